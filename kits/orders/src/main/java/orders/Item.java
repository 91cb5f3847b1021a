package orders;

/** Goods that can be ordered. All warehouses of an instance share the list, which never changes. */
final class Item {
    static final int COUNT = 20_000;

    final int id;
    final String name;
    final long price;
    final String data;

    private Item(int id, Rng rng) {
        this.id = id;
        name = rng.letters(14, 24);
        price = rng.between(100, 10_000);
        data = rng.letters(26, 50);
    }

    /** Items 1 to {@code count} at their places; 0 is empty. */
    static Item[] list(long seed, int count) {
        Rng rng = Rng.of(seed, 0, 1);
        Item[] items = new Item[count + 1];
        for (int id = 1; id <= count; id++) {
            items[id] = new Item(id, rng);
        }
        return items;
    }
}
