package orders;

import java.util.EnumMap;
import java.util.Map;

/** The kit's own tests, without a framework: {@code java -cp CLASSES orders.SelfTest}. */
public final class SelfTest {
    private static int failed;

    private SelfTest() {}

    /** Runs all tests; the exit code is 1 when one fails. */
    public static void main(String[] args) throws Exception {
        check("this machine conforms and the screens have their hash", Conformance.wrong(), null);
        check("the check gives the same twice", Conformance.screens(), Conformance.screens());
        decks();
        books();
        escapes();
        sizes();
        points();
        histograms();
        arrivals();
        rates();
        System.out.println(failed == 0 ? "all passed" : failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    private static void check(String what, Object got, Object want) {
        boolean same = want == null ? got == null : want.equals(got);
        if (!same) {
            failed++;
        }
        System.out.println((same ? "ok      " : "FAILED  ") + what + (same ? "" : ": " + got + ", not " + want));
    }

    private static void decks() {
        for (String mix : new String[] {"intended", "effective"}) {
            Deck deck = new Deck(mix, new Rng(1));
            Map<Kind, Integer> dealt = new EnumMap<>(Kind.class);
            for (int i = 0; i < 6600; i++) {
                dealt.merge(deck.deal(), 1, Integer::sum);
            }
            int orders = mix.equals("intended") ? 2000 : 2900;
            check(mix + ": new orders", dealt.get(Kind.NEW_ORDER), orders);
            check(mix + ": payments", dealt.get(Kind.PAYMENT), 2000);
            check(mix + ": deliveries", dealt.get(Kind.DELIVERY), 200);
            check(mix + ": reports", dealt.get(Kind.CUSTOMER_REPORT), 4000 - orders);
        }
        try {
            new Deck("mine", new Rng(1));
            check("a mix that is none is refused", "taken", "refused");
        } catch (IllegalArgumentException e) {
            check("a mix that is none is refused", "refused", "refused");
        }
    }

    private static Warehouse worked() {
        Warehouse warehouse = new Warehouse(3, 7, Item.list(7, 2000), 40);
        Rng rng = new Rng(9);
        Clerk clerk = new Clerk(warehouse, rng);
        Deck deck = new Deck("effective", rng);
        for (int i = 0; i < 20_000; i++) {
            clerk.act(deck.deal());
        }
        return warehouse;
    }

    private static void books() {
        check("the books of a new warehouse", Books.wrong(new Warehouse(1, 7, Item.list(7, 2000), 40)), null);
        Warehouse sound = worked();
        check("the books after work", Books.wrong(sound), null);
        check("orders are let go", sound.districts[4].orders.size() <= District.KEPT + District.WAITING + 1, true);
        check("no more payments are kept", sound.history.size(), Warehouse.KEPT_PAYMENTS);
        for (Fault fault : new Fault[] {Fault.MONEY, Fault.STOCK, Fault.ORDERS}) {
            Warehouse broken = worked();
            fault.breakBooks(broken);
            check(fault + " is noticed", Books.wrong(broken) != null, true);
        }
        Warehouse lost = worked();
        lost.districts[2].waiting.pollFirstEntry();
        check("an order that vanishes from the waiting ones is noticed", Books.wrong(lost) != null, true);
        Warehouse more = worked();
        more.stock.get(5).quantity++;
        check("goods from nowhere are noticed", Books.wrong(more) != null, true);
    }

    private static void escapes() {
        String written = new Element("a").with("b", "<\"&>").field("c", "x<y").write();
        check("XML is escaped", written, "<?xml version=\"1.0\"?>\n<a b=\"&lt;&quot;&amp;&gt;\">\n <c>x&lt;y</c>\n</a>\n");
        check("amounts", Element.money(-1205) + " " + Element.money(7), "-12.05 0.07");
        check("JSON is escaped", new Json().put("a\"", "b\n").put("c", new long[] {1, 2}).toString(),
            "{\"a\\\"\":\"b\\u000a\",\"c\":[1,2]}");
    }

    /** About 25 MB of objects a warehouse, to a tenth or two, on a machine with references of 4 bytes. */
    private static void sizes() {
        Warehouse[] kept = new Warehouse[4];
        Item[] items = Item.list(1, Item.COUNT);
        long before = used();
        for (int i = 0; i < kept.length; i++) {
            kept[i] = new Warehouse(i + 1, 1, items, Customer.PER_DISTRICT);
        }
        long each = (used() - before) / kept.length;
        check("a warehouse has about 25 MB, here " + each / 1_000_000 + " MB", each > 20_000_000 && each < 30_000_000, true);
        check("it is kept until here", kept[0].id, 1);
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static void points() throws InterruptedException {
        Instance instance = new Instance(1, 2, "effective", 2);
        instance.prepare(2);
        long now = System.nanoTime();
        String report = instance.point(new Window(now, now + 50_000_000L, now + 250_000_000L, now + 300_000_000L), null, Fault.NONE)
            .toString();
        check("a point reports", report.contains("\"warehouses\":2") && report.contains("\"new-order\":{\"count\":"), true);
        check("its books add up", report.contains("\"wrong\""), false);
        instance.prepare(1);
        now = System.nanoTime();
        report = instance.point(new Window(now, now + 1, now + 50_000_000L, now + 50_000_000L), null, Fault.STOCK).toString();
        check("a broken invariant is reported", report.contains("the stock of item 1 is -1"), true);
    }

    private static void histograms() {
        Histogram times = new Histogram(Tally.TIMES_BITS);
        double worst = 0;
        int before = -1;
        boolean rising = true;
        for (long ns = 0; ns < 1L << 40; ns += 1 + ns / 300) {
            int bucket = times.bucket(ns);
            int shift = Math.max(0, (bucket >> Tally.TIMES_BITS) - 1);
            long low = (long) (bucket - (shift << Tally.TIMES_BITS)) << shift;
            double middle = low + ((1L << shift) - 1) / 2.0;
            rising &= low <= ns && ns < low + (1L << shift) && bucket >= before;
            worst = Math.max(worst, Math.abs(middle - ns) / Math.max(1, ns));
            before = bucket;
        }
        check("a time is in its bucket", rising, true);
        check("the middle of a bucket is within 0.4 % of its times, here " + worst, worst < 0.004, true);
        check("longer times are in the last bucket", times.bucket(Long.MAX_VALUE), times.counts.length - 1);
        times.add(-5);
        times.add(1000);
        times.add(1001);
        times.add(Long.MAX_VALUE);
        Histogram both = new Histogram(Tally.TIMES_BITS);
        both.add(times);
        both.add(times);
        java.util.stream.LongStream.Builder list = java.util.stream.LongStream.builder();
        both.list(list, 7);
        check("every count is listed", java.util.Arrays.toString(list.build().toArray()),
            "[7, 0, 2, 7, " + both.bucket(1000) + ", 4, 7, " + (both.counts.length - 1) + ", 2]");
        check("the longest is exact", both.max, Long.MAX_VALUE);
    }

    private static void arrivals() {
        long second = 1_000_000_000L;
        Window window = new Window(0, second, 11 * second, 12 * second);
        Arrivals even = new Arrivals(window, new Rate(1000, true, 4, second), 1, 2, null);
        check("two warehouses take turns", even.due() + " " + even.isEmpty(), "1000000 true");
        even.admit(1_000_000, true);
        even.admit(9 * second, false);
        check("the schedule goes on while the thread is late", even.due(), 9 * second + 1_000_000);
        check("a full queue refuses", even.offered + " " + even.refused, "4000 4000");
        check("the oldest is first", even.take() + " " + even.take(), "1000000 3000000");
        long left = even.unanswered();
        check("all requests of the measurement are counted", even.offered + " " + (even.refused + left), "5000 5000");

        Arrivals drawn = new Arrivals(window, new Rate(2000, false, 100_000, second), 0, 1, Rng.of(1, 2, 3));
        Arrivals again = new Arrivals(window, new Rate(2000, false, 100_000, second), 0, 1, Rng.of(1, 2, 3));
        double sum = 0;
        double squares = 0;
        long before = 0;
        int drawnOf = 20_000;
        boolean same = true;
        for (int i = 0; i < drawnOf; i++) {
            long due = drawn.due();
            same &= due == again.due();
            drawn.admit(due, true);
            again.admit(due, true);
            sum += due - before;
            squares += (double) (due - before) * (due - before);
            before = due;
        }
        double mean = sum / drawnOf;
        double deviation = Math.sqrt(squares / drawnOf - mean * mean);
        check("the same seed is the same schedule", same, true);
        check("distances have the mean of the rate, here " + mean, Math.abs(mean / 500_000 - 1) < 0.03, true);
        check("and deviate by it, as an exponential does, here " + deviation, Math.abs(deviation / mean - 1) < 0.05, true);
        check("none was late", drawn.late, 0L);
        long offered = drawn.offered;
        drawn.admit(drawn.due() + 2 * Arrivals.LATE_NS, true);
        check("what a sleeper sees late is late", drawn.late > 0 == drawn.offered > offered, true);
        check("all are in the queue", drawn.unanswered(), drawn.offered);
    }

    /** At a rate far too high for the queue, and at a low one: nothing is lost from the counts. */
    private static void rates() throws InterruptedException {
        Instance instance = new Instance(1, 2, "effective", 2);
        for (double perSecond : new double[] {500, 1e7}) {
            instance.prepare(2);
            long now = System.nanoTime();
            Window window = new Window(now, now + 50_000_000L, now + 450_000_000L, now + 500_000_000L);
            String report = instance.point(window, new Rate(perSecond, true, 100, 100_000_000L), Fault.NONE).toString();
            long offered = number(report, "offered");
            check("requests that were due at " + perSecond, Math.abs(offered - 0.4 * perSecond) <= 2, true);
            long counted = number(report, "refused") + number(report, "unanswered");
            String[] list = report.replaceAll(".*\"times\":\\[([0-9,]*)\\].*", "$1").split(",");
            for (int i = 1; i < list.length; i += 2) {
                counted += Long.parseLong(list[i]);
            }
            check("each is in the histogram, refused or unanswered", counted, offered);
            check("it is refused if the queue is full", number(report, "refused") > 0, perSecond > 1e6);
            check("its books add up", report.contains("\"wrong\""), false);
        }
    }

    private static long number(String report, String name) {
        return Long.parseLong(report.replaceAll(".*\"" + name + "\":(\\d+).*", "$1"));
    }
}
