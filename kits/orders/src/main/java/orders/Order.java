package orders;

/** An order and its lines. */
final class Order {
    /** Goods of one item. */
    static final class Line {
        final Item item;
        final int quantity;
        final long amount;
        final String mark;
        long delivered;

        Line(Item item, int quantity, String mark) {
            this.item = item;
            this.quantity = quantity;
            this.mark = mark;
            amount = quantity * item.price;
        }
    }

    final int id;
    final int district;
    final Customer customer;
    final long date;
    final Line[] lines;
    final long total;
    int carrier;

    Order(int id, int district, Customer customer, long date, Line[] lines) {
        this.id = id;
        this.district = district;
        this.customer = customer;
        this.date = date;
        this.lines = lines;
        long sum = 0;
        for (Line line : lines) {
            sum += line.amount;
        }
        total = sum * (100 - customer.discountPercent) / 100;
    }

    boolean delivered() {
        return carrier != 0;
    }
}
