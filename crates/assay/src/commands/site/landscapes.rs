//! The landscapes of a site: a page for every table of quoted results, with the matrix of its
//! denominators.

use std::collections::BTreeMap;

use anyhow::Result;
use assay_model::Profile;
use assay_publish::site::{LandscapeCard, pages};
use assay_quoted::landscape::{Collection, LandscapeError, Query};

use super::builder::{Builder, OmissionReason};
use super::folder::{Unit, UnitCard};

/// Updates the pages of all landscapes.
pub fn build(builder: &Builder<'_>, collection: &Collection) -> Result<()> {
    for listing in collection.list() {
        let name = format!("landscape {}", listing.name);
        if let Some(same) = builder.folder.standing(&name).filter(|u| u.key == builder.settings) {
            builder.folder.keep(&name, same.clone());
            continue;
        }
        let mut landscape = match collection.landscape(&listing.name, &Query::default()) {
            Ok(landscape) => landscape,
            // A file of several metrics without a definition is a collection of observations, which
            // are not ranked.
            Err(LandscapeError::Metric { .. }) => continue,
            Err(e) => {
                builder.leave_out(name, OmissionReason::Mistake, &e.to_string());
                continue;
            }
        };
        landscape.check_denominators(&[], true, Profile::Publish);
        let matrix = landscape.matrix();
        let card = LandscapeCard::from_landscape(&landscape);
        let page = pages::landscape(&builder.site, &card, &landscape, Some(&matrix));
        let written = builder.folder.write(&card.path(), page.as_bytes())?;
        let files = BTreeMap::from([(card.path(), written)]);
        let key = builder.settings.clone();
        let card = Some(UnitCard::Landscape(Box::new(card)));
        builder.folder.done(&name, Unit { key, look: String::new(), card, files })?;
    }
    Ok(())
}
