//! Scenes of posts, landscapes and foreign texts.

use serde_json::Value;

use super::Scene;
use super::runs::made;
use crate::common::World;
use crate::common::figures::{Figures, noise};
use crate::common::says::{json, landscape, refusal};

/// Makes a scene, or returns `None` if it is not about claims.
pub fn make(world: &World, name: &str) -> Option<Scene> {
    let found = match name {
        "post: unclear" => of_run(world, name, &[100.0, 100.0]),
        "post: clear" => of_run(world, name, &[120.0, 100.0]),
        "post: one of three left out" => of_run(world, name, &[120.0, 100.0, 130.0]),
        "post: dated rank" => post(world, RANK),
        "post: undated rank" => published(world, "+++\ntitle = \"T\"\n+++\n", RANK),
        "post: mean of scores" => post(world, "{{ mean(\"intrate-*-base\") }}"),
        "post: mean of rates" => post(world, "{{ mean([\"t5240-1.6\", \"p570-4chip\"]) }}"),
        "post: two metrics" => {
            post(world, "{{ times(\"intrate-6048-base\", than=\"fprate-6048-base\") }}")
        }
        "post: one metric" => post(world, PAIR),
        "post: per core alone" => post(world, PER_CORE),
        "post: per core with its base" => post(world, &format!("{VALUE}: {PER_CORE}")),
        "post: one count" => post(world, "{{ times(\"trap-s10-mean\", than=\"trap-s9-mean\") }}"),
        "post: bare" => post(world, VALUE),
        "post: disclosed" => disclosed(world),
        "post: later result" => {
            published(world, "+++\ntitle = \"T\"\nas_of = \"2009-01-01\"\n+++\n", VALUE)
        }
        "landscape" => {
            landscape(world, &two("4,,,,,,,,,,,100", "4,,,,,,,,,,,150"), &["--per", "core"])
        }
        "landscape with a run" => {
            made(world, &["--blocks", "3", "--", "true"]);
            let csv = "id,source,benchmark,metric,unit,higher_is_better,system,value\n\
                q,s,E,elapsed,s,false,Elsewhere,0.5\n";
            landscape(world, csv, &["--with", "last"])
        }
        "landscape: per core" => per(world, "core", "", ""),
        "landscape: other cores" => per(world, "core", ",8,,350", ",8,used,350"),
        "landscape: no cores" => per(world, "core", ",8,,350", ",,,350"),
        "landscape: per watt" => per(world, "watt", "", ""),
        "landscape: nameplate" => per(world, "watt", "350,wall", "350,tdp"),
        "landscape: no watts" => per(world, "watt", "350,wall", ","),
        "landscape: per price" => per(world, "price", "", ""),
        "landscape: undated price" => per(world, "price", "2026-01-01", ""),
        "landscape: no price" => per(world, "price", ",30,USD", ",,USD"),
        "audit: right" => audit(world, "5.5", "better"),
        "audit: wrong" => audit(world, "9", "better"),
        "audit: alone" => audit(world, "9", "missing"),
        _ => return None,
    };
    Some(Scene::Findings(found))
}

const VALUE: &str = "{{ value(\"t5240-1.6\") }}";
const PER_CORE: &str = "{{ per(\"t5240-1.6\", \"core\") }}";
const RANK: &str = "{{ rank(\"t5240-1.6\", in=\"specjbb2005\") }}";
const PAIR: &str = "{{ times(\"t5240-1.6\", than=\"p570-4chip\") }}";

fn post(world: &World, body: &str) -> Value {
    published(world, "+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\n+++\n", body)
}

/// Returns the findings of a post's page, even if numbers are withheld from it.
fn published(world: &World, head: &str, body: &str) -> Value {
    published_from(world, head, body, &[])
}

fn published_from(world: &World, head: &str, body: &str, more: &[&str]) -> Value {
    world.write("p.md", &format!("{head}{body}\n"));
    let _ = std::fs::remove_dir_all(world.path("page"));
    let done =
        world.run(&[&["publish", "p.md", "-o", "page", "--withhold", "--json"], more].concat());
    let page = std::fs::read_to_string(world.path("page/post.json"));
    match (done.code, page) {
        (0, _) => json(&done.stdout)["findings"].clone(),
        (4, Ok(page)) => json(&page)["findings"].clone(),
        (4, Err(_)) => refusal(&done.stderr),
        _ => panic!("{}", done.stderr),
    }
}

/// Returns the findings of a post that compares the first two levels of a run with these means.
fn of_run(world: &World, name: &str, means: &[f64]) -> Value {
    let kit = Figures::new(world, name);
    let levels = &["a", "b", "c"][..means.len()];
    for (i, (level, mean)) in levels.iter().zip(means).enumerate() {
        let mut figures = noise(*mean);
        figures.rotate_left(5 * i);
        kit.figures(level, &figures);
    }
    let levels = format!("level={}", levels.join(","));
    let run = made(world, &["--blocks", "6", "--set", &levels, &kit.path()]);
    let times = "{{ times(\"own:figure@level=b\", than=\"own:figure@level=a\") }}";
    let head =
        format!("+++\ntitle = \"T\"\n[runs.own]\nrun = \"{run}\"\nexperiment = \"x.toml\"\n+++\n");
    published(world, &head, &format!("{{{{#run own}}}}{times}\n{{{{/run}}}}"))
}

/// Returns the findings of a post with a quoted result and everything that the rules of fair use
/// require.
fn disclosed(world: &World) -> Value {
    std::fs::create_dir_all(world.path("kept")).unwrap();
    world.write(
        "kept/own.csv",
        "id,source,benchmark,metric,unit,higher_is_better,system,chips,cores,threads,as_of_date,\
         public,compliant,estimated,value\n\
         own,s,SPECjbb2005,SPECjbb2005 bops,bops,true,A,1,4,8,2009-08-01,yes,yes,no,100\n",
    );
    let head = "+++\ntitle = \"T\"\nas_of = \"2009-08-27\"\nretrieved = \"2009-08-27\"\n\
        licensee = \"A licensee\"\n+++\n";
    let body = "{{ value(\"own\") }} of a retired benchmark, as of 2009-08-27; the newest are at \
        spec.org.";
    published_from(world, head, body, &["--published", "kept"])
}

const HEAD: &str = "id,source,benchmark,metric,unit,higher_is_better,system,cores,counted,watts,\
    watts_source,price,currency,price_date,price_scope,price_terms,price_discount,\
    price_support_years,value\n";

fn two(a: &str, b: &str) -> String {
    format!("{HEAD}a,s,B,m,u,true,A,{a}\nb,s,B,m,u,true,B,{b}\n")
}

/// Returns the findings of a landscape under a denominator, with `from` replaced by `to` in its
/// data.
fn per(world: &World, what: &str, from: &str, to: &str) -> Value {
    const PRICE: &str = "USD,2026-01-01,server;memory,public,0,3";
    let sound = two(&format!("4,,300,wall,10,{PRICE},100"), &format!("8,,350,wall,30,{PRICE},150"));
    let csv = if from.is_empty() { sound.clone() } else { sound.replace(from, to) };
    assert!(from.is_empty() || csv != sound, "{from}");
    landscape(world, &csv, &["--per", what])
}

/// Returns the findings of a text that claims a difference of this percentage, bound to a function
/// of its table.
fn audit(world: &World, percent: &str, function: &str) -> Value {
    world.write(
        "a.md",
        &format!(
            "| System | ops/s |\n|---|---|\n| Acme Z9 | 4220 |\n| Bolt Q7 | 4000 |\n\nThe Acme Z9 \
             delivers {percent}% more.\n"
        ),
    );
    let cell = |row| format!("cell(\"table 1\", row=\"{row}\", column=\"ops/s\")");
    let is = match function {
        "missing" => "missing(\"the baseline\")".to_owned(),
        _ => format!("more({}, than={})", cell("Acme Z9"), cell("Bolt Q7")),
    };
    world.write(
        "claims.toml",
        &format!(
            "format = 1\ntext = 'a.md'\n[[claim]]\nquote = '{percent}% more'\nsays = '{percent} \
             %'\nis = '{is}'\n"
        ),
    );
    let done = world.run(&["audit", "a.md", "--claims", "claims.toml", "--json"]);
    json(&done.stdout)["findings"].clone()
}
