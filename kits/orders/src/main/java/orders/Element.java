package orders;

import java.util.ArrayList;
import java.util.List;

/** An element of an XML document: a screen is built as a tree of them and written as text. */
final class Element {
    private final String name;
    private final List<String> attributes = new ArrayList<>(4);
    private final List<Element> children = new ArrayList<>(4);
    private String text = "";

    Element(String name) {
        this.name = name;
    }

    Element with(String attribute, long value) {
        return with(attribute, Long.toString(value));
    }

    Element with(String attribute, String value) {
        attributes.add(attribute);
        attributes.add(value);
        return this;
    }

    Element child(String child) {
        Element element = new Element(child);
        children.add(element);
        return element;
    }

    Element field(String child, String value) {
        child(child).text = value;
        return this;
    }

    /** An amount of cents as it stands on paper. */
    static String money(long cents) {
        long abs = Math.abs(cents);
        return (cents < 0 ? "-" : "") + abs / 100 + (abs % 100 < 10 ? ".0" : ".") + abs % 100;
    }

    Element field(String child, long value) {
        return field(child, Long.toString(value));
    }

    /** The document. */
    String write() {
        StringBuilder out = new StringBuilder(1024);
        out.append("<?xml version=\"1.0\"?>\n");
        write(out, 0);
        return out.toString();
    }

    private void write(StringBuilder out, int depth) {
        for (int i = 0; i < depth; i++) {
            out.append(' ');
        }
        out.append('<').append(name);
        for (int i = 0; i < attributes.size(); i += 2) {
            out.append(' ').append(attributes.get(i)).append("=\"");
            escape(attributes.get(i + 1), out);
            out.append('"');
        }
        if (children.isEmpty() && text.isEmpty()) {
            out.append("/>\n");
            return;
        }
        out.append('>');
        escape(text, out);
        if (!children.isEmpty()) {
            out.append('\n');
            for (Element child : children) {
                child.write(out, depth + 1);
            }
            for (int i = 0; i < depth; i++) {
                out.append(' ');
            }
        }
        out.append("</").append(name).append(">\n");
    }

    private static void escape(String text, StringBuilder out) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '<': out.append("&lt;"); break;
                case '>': out.append("&gt;"); break;
                case '&': out.append("&amp;"); break;
                case '"': out.append("&quot;"); break;
                default: out.append(c);
            }
        }
    }
}
