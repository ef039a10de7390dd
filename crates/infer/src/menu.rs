//! The menu: which barriers a model's programs may be given, and what each costs.
//!
//! A kind of fence is worth offering only where the model lets such accesses change places; a full fence
//! does the work of all. Prices are relative. The caller says which fences the language of the source has: x86
//! has no instruction that makes just loads wait for loads.

use fencepost_ir::FenceKinds;
use fencepost_models::ModelSpec;

/// Something that can be ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dish {
    /// A fence of this kind.
    Fence(FenceKinds),
    /// A wait for the stores to one location.
    Drain,
}

impl Dish {
    /// Those of our own language, in the order of the book.
    pub const ALL: [Dish; 6] = [
        Dish::Fence(FenceKinds::FULL),
        Dish::Fence(FenceKinds::STORE_STORE),
        Dish::Fence(FenceKinds::STORE_LOAD),
        Dish::Fence(FenceKinds::LOAD_LOAD),
        Dish::Fence(FenceKinds::LOAD_STORE),
        Dish::Drain,
    ];

    /// Further names, those of x86 among them.
    pub const OTHER_NAMES: [&str; 5] = ["mfence", "sfence", "lfence", "acquire", "release"];

    /// Its name on the command line.
    pub fn name(self) -> String {
        match self {
            Dish::Fence(kinds) if kinds == FenceKinds::ACQUIRE => "acquire".into(),
            Dish::Fence(kinds) if kinds == FenceKinds::RELEASE => "release".into(),
            Dish::Fence(kinds) => kinds.name(),
            Dish::Drain => "drain".into(),
        }
    }

    /// The one with this name.
    pub fn by_name(name: &str) -> Option<Dish> {
        let own = Dish::ALL.into_iter().find(|dish| dish.name() == name);
        let kinds = match name {
            "mfence" => FenceKinds::FULL,
            "sfence" => FenceKinds::STORE_STORE,
            "lfence" | "acquire" => FenceKinds::ACQUIRE,
            "release" => FenceKinds::RELEASE,
            _ => return own,
        };
        Some(Dish::Fence(kinds))
    }

    /// What it costs unless told otherwise.
    pub fn usual_price(self) -> u32 {
        match self {
            Dish::Fence(kinds) => kinds.usual_cost(),
            Dish::Drain => 3,
        }
    }
}

/// What is offered, with prices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Menu {
    /// The barriers and their prices, each once.
    pub dishes: Vec<(Dish, u32)>,
}

impl Menu {
    /// The single kinds and the full fence, as far as they make a difference under a model, at their usual
    /// prices.
    pub fn of(model: &ModelSpec) -> Menu {
        let singles = FenceKinds::SINGLE.map(|(kinds, _)| kinds);
        let all = singles.into_iter().chain([FenceKinds::FULL]);
        Menu::useful(model, all.map(|kinds| (kinds, kinds.usual_cost())))
    }

    /// Those of some fences that make a difference under a model.
    pub fn useful(model: &ModelSpec, fences: impl IntoIterator<Item = (FenceKinds, u32)>) -> Menu {
        let relaxes = model.relaxes();
        let useful = |kinds: FenceKinds| {
            kinds == FenceKinds::FULL
                || kinds.contains(FenceKinds::STORE_STORE) && relaxes.store_store
                || kinds.contains(FenceKinds::STORE_LOAD) && relaxes.store_load
                || kinds.contains(FenceKinds::LOAD_LOAD) && relaxes.load_load
                || kinds.contains(FenceKinds::LOAD_STORE) && relaxes.load_store
        };
        let fences = fences.into_iter().filter(|(kinds, _)| useful(*kinds));
        Menu::new(fences.map(|(kinds, price)| (Dish::Fence(kinds), price)))
    }

    /// These, at their usual prices.
    pub fn only(dishes: &[Dish]) -> Menu {
        Menu::new(dishes.iter().map(|dish| (*dish, dish.usual_price())))
    }

    /// These, at these prices.
    pub fn new(dishes: impl IntoIterator<Item = (Dish, u32)>) -> Menu {
        let mut dishes: Vec<(Dish, u32)> = dishes.into_iter().collect();
        dishes.sort_unstable();
        dishes.dedup_by_key(|(dish, _)| *dish);
        Menu { dishes }
    }

    /// Changes a price; what is not offered stays so.
    pub fn charge(&mut self, dish: Dish, price: u32) {
        for (_, old) in self.dishes.iter_mut().filter(|(other, _)| *other == dish) {
            *old = price;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> ModelSpec {
        ModelSpec::by_name(name).expect("a built-in model")
    }

    fn sorted(menu: &Menu) -> Vec<String> {
        let mut names: Vec<String> = menu.dishes.iter().map(|(dish, _)| dish.name()).collect();
        names.sort();
        names
    }

    fn names(name: &str) -> Vec<String> {
        sorted(&Menu::of(&model(name)))
    }

    fn names_in(language: [FenceKinds; 3], name: &str) -> Vec<String> {
        sorted(&Menu::useful(&model(name), language.map(|kinds| (kinds, kinds.usual_cost()))))
    }

    #[test]
    fn only_what_a_model_relaxes_is_offered() {
        assert_eq!(names("tso"), ["full", "store_load"]);
        assert_eq!(names("pso"), ["full", "store_load", "store_store"]);
        assert_eq!(names("rmo"), ["full", "load_load", "load_store", "store_load", "store_store"]);
    }

    #[test]
    fn only_what_a_language_has_is_offered() {
        let x86 = [FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::ACQUIRE];
        let c11 = [FenceKinds::FULL, FenceKinds::RELEASE, FenceKinds::ACQUIRE];
        let linux = [FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD];
        assert_eq!(names_in(x86, "tso"), ["full"]);
        assert_eq!(names_in(x86, "pso"), ["full", "store_store"]);
        assert_eq!(names_in(x86, "rmo"), ["acquire", "full", "store_store"]);
        assert_eq!(names_in(c11, "pso"), ["full", "release"]);
        assert_eq!(names_in(c11, "rmo"), ["acquire", "full", "release"]);
        assert_eq!(names_in(linux, "rmo"), ["full", "load_load", "store_store"]);
    }

    #[test]
    fn names_and_dishes_are_the_same_thing() {
        for dish in Dish::ALL {
            assert_eq!(Dish::by_name(&dish.name()), Some(dish));
        }
        for name in Dish::OTHER_NAMES {
            let dish = Dish::by_name(name).expect("a name");
            assert_eq!(Dish::by_name(&dish.name()), Some(dish));
        }
        assert_eq!(Dish::by_name("dmb"), None);
    }
}
