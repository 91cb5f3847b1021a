package orders;

/** A stream of random numbers (SplitMix64): the same seed gives the same stream on every machine. */
final class Rng {
    private long state;

    Rng(long seed) {
        state = seed;
    }

    /** A stream of its own for each (seed, a, b). */
    static Rng of(long seed, long a, long b) {
        Rng rng = new Rng(seed);
        rng.state = rng.next() ^ a * 0x9E3779B97F4A7C15L;
        rng.state = rng.next() ^ b * 0xC2B2AE3D27D4EB4FL;
        return rng;
    }

    long next() {
        long z = state += 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** Above 0, up to 1. */
    double unit() {
        return ((next() >>> 11) + 1) * 0x1p-53;
    }

    /** From {@code low} to {@code high}, both included. */
    int between(int low, int high) {
        return low + (int) ((next() >>> 33) * (high - low + 1L) >>> 31);
    }

    /** Some are drawn more often than others, as customers and goods are: the or of two draws. */
    int skewed(int mask, int count) {
        return 1 + (between(0, mask) | between(1, count)) % count;
    }

    String letters(int low, int high) {
        char[] text = new char[between(low, high)];
        for (int i = 0; i < text.length; i++) {
            text[i] = (char) ('a' + between(0, 25));
        }
        return new String(text);
    }
}
