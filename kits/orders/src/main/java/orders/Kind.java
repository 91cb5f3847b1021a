package orders;

/** The kinds of transactions, by the names that they are counted under. */
enum Kind {
    NEW_ORDER("new-order"),
    PAYMENT("payment"),
    ORDER_STATUS("order-status"),
    DELIVERY("delivery"),
    STOCK_LEVEL("stock-level"),
    CUSTOMER_REPORT("customer-report");

    static final Kind[] ALL = values();

    final String title;

    Kind(String title) {
        this.title = title;
    }
}
