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
        String report = instance.point(new Window(now, now + 50_000_000L, now + 250_000_000L, now + 300_000_000L), Fault.NONE)
            .toString();
        check("a point reports", report.contains("\"warehouses\":2") && report.contains("\"new-order\":{\"count\":"), true);
        check("its books add up", report.contains("\"wrong\""), false);
        instance.prepare(1);
        now = System.nanoTime();
        report = instance.point(new Window(now, now + 1, now + 50_000_000L, now + 50_000_000L), Fault.STOCK).toString();
        check("a broken invariant is reported", report.contains("the stock of item 1 is -1"), true);
    }
}
