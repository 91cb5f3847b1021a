package orders;

import java.util.ArrayDeque;

/** A customer of a district. Amounts are in cents. */
final class Customer {
    static final int PER_DISTRICT = 300;
    private static final int REMEMBERED = 8;
    private static final String[] PARTS = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"};

    final int id;
    final String first;
    final String last;
    final String street;
    final String city;
    final String phone;
    final String data;
    final int discountPercent;
    final ArrayDeque<Order> orders = new ArrayDeque<>();
    final ArrayDeque<History> payments = new ArrayDeque<>();
    long balance;
    long paid;
    int deliveries;

    Customer(int id, Rng rng) {
        this.id = id;
        first = rng.letters(8, 16);
        last = name(id <= 100 ? id - 1 : rng.skewed(255, 1000) - 1);
        street = rng.letters(10, 20);
        city = rng.letters(10, 20);
        phone = rng.letters(16, 16);
        data = rng.letters(300, 500);
        discountPercent = rng.between(0, 5);
    }

    /** Three syllables for a number below 1000. */
    static String name(int number) {
        return PARTS[number / 100] + PARTS[number / 10 % 10] + PARTS[number % 10];
    }

    void remember(Order order) {
        if (orders.size() == REMEMBERED) {
            orders.removeFirst();
        }
        orders.addLast(order);
    }

    void remember(History payment) {
        if (payments.size() == REMEMBERED) {
            payments.removeFirst();
        }
        payments.addLast(payment);
    }
}
