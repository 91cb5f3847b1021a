package orders;

/** What a warehouse has of an item. */
final class Stock {
    static final int DISTRICTS = 10;

    final int item;
    final String[] marks = new String[DISTRICTS];
    final String data;
    int quantity;
    long sold;
    long restocked;
    int orders;

    Stock(int item, Rng rng) {
        this.item = item;
        for (int i = 0; i < marks.length; i++) {
            marks[i] = rng.letters(24, 24);
        }
        data = rng.letters(26, 50);
        quantity = rng.between(10, 100);
    }

    /** Takes goods out, and fills up when few would be left. */
    void take(int count) {
        if (quantity - count < 10) {
            quantity += 91;
            restocked += 91;
        }
        quantity -= count;
        sold += count;
        orders++;
    }
}
