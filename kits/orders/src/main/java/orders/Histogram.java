package orders;

import java.util.Arrays;
import java.util.stream.LongStream;

/** Counts times in buckets that are at most 2^-bits of their lower edge wide. Counting does not allocate. */
final class Histogram {
    /** Power of two, in nanoseconds, at which the last bucket ends; longer times count in it. */
    private static final int TOP = 40;

    final long[] counts;
    /** The longest time, exact. */
    long max;
    private final int bits;

    Histogram(int bits) {
        this.bits = bits;
        counts = new long[TOP - bits + 1 << bits];
    }

    void add(long ns) {
        counts[bucket(ns)]++;
        max = Math.max(max, ns);
    }

    void add(Histogram other) {
        Arrays.setAll(counts, i -> counts[i] + other.counts[i]);
        max = Math.max(max, other.max);
    }

    /** Buckets below 2^(bits + 1) are 1 ns wide; from there on every power of two has 2^bits of them. */
    int bucket(long ns) {
        long time = Math.min(Math.max(ns, 0), (1L << TOP) - 1);
        int shift = Math.max(0, 63 - Long.numberOfLeadingZeros(time | 1) - bits);
        return (shift << bits) + (int) (time >>> shift);
    }

    /** Appends every bucket that is not empty and its count, after {@code first}. */
    void list(LongStream.Builder out, long... first) {
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                Arrays.stream(first).forEach(out);
                out.add(i).add(counts[i]);
            }
        }
    }
}
