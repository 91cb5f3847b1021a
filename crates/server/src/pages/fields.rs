//! Parts of forms, and the fields of the form of a submission: label, input, help text and problem.

use assay_model::ParamType;
use maud::{Markup, html};

use crate::submit::draft::Draft;
use crate::submit::form::FilledForm;
use crate::submit::overrides::Field;

/// Form as filled in, and the draft of its submission.
pub(super) struct DraftForm<'a> {
    pub filled: &'a FilledForm,
    pub draft: &'a Draft,
}

impl DraftForm<'_> {
    /// Returns true if this field has a problem.
    pub fn has_problem(&self, name: &str) -> bool {
        self.draft.problems.iter().any(|p| p.field == name)
    }
}

/// Renders a plain input with its label and help text.
pub(super) fn field(name: &str, label: &str, kind: &str, value: &str, help: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) } input id=(name) name=(name) value=(value) type=(kind);
            @if !help.is_empty() { p.soft { (help) } }
        }
    }
}

/// Renders the values that are not empty as hidden inputs.
pub(super) fn hidden<'a>(values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        @for (name, value) in values.into_iter().filter(|(_, value)| !value.is_empty()) {
            input type="hidden" name=(name) value=(value);
        }
    }
}

/// Renders an option of a `select`.
pub(super) fn option(value: &str, chosen: bool, words: &str) -> Markup {
    html! { option value=(value) selected[chosen] { (words) } }
}

/// Renders a button that submits its form; `label` describes it out of its context.
pub(super) fn button(class: &str, label: &str, words: &str) -> Markup {
    let class = Some(class).filter(|class| !class.is_empty());
    html! { button type="submit" class=[class] aria-label=(label) { (words) } }
}

/// Returns the HTML id of a field's input.
pub(super) fn id(name: &str) -> String {
    name.strip_prefix("set.").map_or_else(|| name.to_owned(), |param| format!("set-{param}"))
}

/// Returns the name of a field as it is shown.
pub(super) fn label(name: &str) -> &str {
    name.strip_prefix("set.").unwrap_or(name)
}

/// Renders the problems of a field. The element exists even without one, for problems that arise
/// while typing.
pub(super) fn problem(form: &DraftForm<'_>, name: &str) -> Markup {
    html! {
        div.mistake id={ (id(name)) "-problem" } data-problem=(name) {
            @for p in form.draft.problems.iter().filter(|p| p.field == name) { pre { (p.message) } }
        }
    }
}

/// Renders a field that is not a parameter.
pub(super) fn row(
    form: &DraftForm<'_>,
    name: &str,
    words: &str,
    kind: &str,
    help: &str,
    value: &str,
) -> Markup {
    let own = id(name);
    let (kind, mode) = if kind == "numeric" { ("text", Some("numeric")) } else { (kind, None) };
    html! {
        div.field {
            label for=(own) { (words) }
            input id=(own) name=(name) type=(kind) inputmode=[mode] value=(value) maxlength="2000"
                aria-describedby={ (own) "-help " (own) "-problem" }
                aria-invalid=[form.has_problem(name).then_some("true")];
            p.soft id={ (own) "-help" } { (help) }
            (problem(form, name))
        }
    }
}

/// Renders a parameter of the workload.
pub(super) fn parameter(form: &DraftForm<'_>, field: &Field) -> Markup {
    let name = format!("set.{}", field.param.name);
    let own = id(&name);
    // Keep the typed value, even if it is wrong.
    let typed = form.filled.asked.set.get(&field.param.name);
    let value = typed.or(field.value.as_ref()).map(String::as_str);
    let locked = field.locked.is_some();
    let asked = (!locked).then_some(&name);
    let about = format!("{own}-help {own}-problem");
    let invalid = form.has_problem(&name).then_some("true");
    let words: Option<Vec<&str>> = match &field.param.ty {
        ParamType::Choice { of } => Some(of.iter().map(String::as_str).collect()),
        ParamType::Bool => Some(vec!["true", "false"]),
        _ => None,
    };
    let words = words.filter(|words| !field.factor && value.is_none_or(|v| words.contains(&v)));
    html! {
        div.field {
            label for=(own) { (field.param.name) }
            @if let Some(words) = words {
                select id=(own) name=[asked] disabled[locked] aria-describedby=(about)
                    aria-invalid=[invalid] {
                    @for word in words { (option(word, value == Some(word), word)) }
                }
            } @else {
                input id=(own) name=[asked] value=[value] disabled[locked] aria-describedby=(about)
                    aria-invalid=[invalid];
            }
            p.soft id={ (own) "-help" } {
                (field.param.help) " (" (kind(&field.param.ty)) ")."
                @if let Some(why) = &field.locked { " Fixed here: " (why) "." }
            }
            (problem(form, &name))
        }
    }
}

fn kind(ty: &ParamType) -> String {
    match ty {
        ParamType::Bool => "true or false".into(),
        ParamType::Int { min, max } if *max >= i64::MAX / 2 => format!("a whole number from {min}"),
        ParamType::Int { min, max } => format!("a whole number from {min} to {max}"),
        ParamType::Float { min, max } if *max > 1e300 => format!("a number from {min}"),
        ParamType::Float { min, max } => format!("a number from {min} to {max}"),
        ParamType::Bytes => "a size such as 100 MiB".into(),
        ParamType::Duration => "a time such as 500 ms".into(),
        ParamType::Choice { of } => format!("one of {}", of.join(", ")),
        ParamType::Text => "a text".into(),
    }
}
