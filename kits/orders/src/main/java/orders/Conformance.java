package orders;

/**
 * Whether this virtual machine does what the language says, as far as the benchmark leans on it, and
 * whether the transactions come to the screens and books that they came to where the kit was made.
 */
final class Conformance {
    private static final int TRANSACTIONS = 5000;
    /** Hash of the screens of the transactions below, on every machine. */
    static final long SCREENS = 0xc781dd94826b8246L;

    private Conformance() {}

    /** The first thing that is wrong, as a sentence; null when nothing is. */
    static String wrong() {
        if (!language()) {
            return "this virtual machine does not keep to the language";
        }
        long screens = screens();
        if (screens != SCREENS) {
            return "the screens of the check have the hash " + Long.toHexString(screens) + ", not " + Long.toHexString(SCREENS);
        }
        return null;
    }

    /** Arithmetic, shifts, rounding, casts, strings, exceptions. */
    private static boolean language() {
        int most = Integer.MAX_VALUE;
        boolean whole = most + 1 == Integer.MIN_VALUE && -7 / 2 == -3 && -7 % 2 == -1 && Long.MIN_VALUE / -1 == Long.MIN_VALUE
            && 1 << 33 == 2 && -1 >>> 28 == 15 && (byte) 200 == -56 && (int) Double.NaN == 0 && (int) 1e20 == most;
        double tenth = 0.1;
        boolean real = tenth + 0.2 == 0.30000000000000004 && 0.0 == -0.0 && 1 / -0.0 < 0 && Math.sqrt(2) * Math.sqrt(2) != 2;
        boolean text = "order".hashCode() == 106006350 && "a\u00e4".length() == 2 && "b".compareTo("a") == 1;
        boolean thrown = false;
        try {
            Object[] words = new String[1];
            words[0] = Integer.valueOf(1);
        } catch (ArrayStoreException e) {
            thrown = true;
        }
        return whole && real && text && thrown;
    }

    /** A small warehouse, a fixed seed and every kind of transaction; 0 when the books do not add up. */
    static long screens() {
        Warehouse warehouse = new Warehouse(1, 42, Item.list(42, 2000), 40);
        Rng rng = Rng.of(42, 1, 3);
        Clerk clerk = new Clerk(warehouse, rng);
        Deck deck = new Deck("intended", rng);
        long hash = 1;
        for (int i = 0; i < TRANSACTIONS; i++) {
            hash = hash * 31 + clerk.act(deck.deal()).hashCode();
        }
        return Books.wrong(warehouse) == null ? hash : 0;
    }
}
