//! Tests the monitors' rows of data, from which the reference is generated.

#[test]
fn names_are_unique() {
    let specs: Vec<_> = assay_observe::every().collect();
    for (i, spec) in specs.iter().enumerate() {
        assert!(specs[..i].iter().all(|other| other.name != spec.name), "{}", spec.name);
        for (k, field) in spec.fields.iter().enumerate() {
            assert!(spec.fields[..k].iter().all(|f| f.name != field.name), "{}", field.name);
            assert!(!field.unit.is_empty() && !field.help.ends_with('.'), "{}", field.name);
        }
    }
}
