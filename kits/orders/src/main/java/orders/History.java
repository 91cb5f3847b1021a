package orders;

/** A payment. */
final class History {
    final long id;
    final int district;
    final int customer;
    final long date;
    final long amount;
    final String data;

    History(long id, int district, int customer, long date, long amount, String data) {
        this.id = id;
        this.district = district;
        this.customer = customer;
        this.date = date;
        this.amount = amount;
        this.data = data;
    }
}
