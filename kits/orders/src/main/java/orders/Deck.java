package orders;

/** Deals transactions: a deck that holds each kind in its share is shuffled, dealt to the end, shuffled again. */
final class Deck {
    /** 10 : 10 : 1 : 1 : 1 : 10, what the rules mean. */
    private static final int[] INTENDED = {10, 10, 1, 1, 1, 10};
    /** 14.5 : 10 : 1 : 1 : 1 : 5.5, doubled: what the benchmark after which this one is made deals in effect. */
    private static final int[] EFFECTIVE = {29, 20, 2, 2, 2, 11};

    private final Kind[] cards;
    private final Rng rng;
    private int next;

    Deck(String mix, Rng rng) {
        this.rng = rng;
        int[] shares;
        switch (mix) {
            case "intended": shares = INTENDED; break;
            case "effective": shares = EFFECTIVE; break;
            default: throw new IllegalArgumentException("the mix is `intended` or `effective`, not `" + mix + "`");
        }
        int size = 0;
        for (int share : shares) {
            size += share;
        }
        cards = new Kind[size];
        for (int kind = 0, at = 0; kind < shares.length; kind++) {
            for (int i = 0; i < shares[kind]; i++) {
                cards[at++] = Kind.ALL[kind];
            }
        }
        next = size;
    }

    Kind deal() {
        if (next == cards.length) {
            for (int i = cards.length - 1; i > 0; i--) {
                int j = rng.between(0, i);
                Kind card = cards[i];
                cards[i] = cards[j];
                cards[j] = card;
            }
            next = 0;
        }
        return cards[next++];
    }
}
