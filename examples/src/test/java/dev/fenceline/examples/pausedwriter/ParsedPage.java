package dev.fenceline.examples.pausedwriter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** A rendered page, read back as XML. */
final class ParsedPage {

    private final Document document;

    private ParsedPage(Document document) {
        this.document = document;
    }

    static ParsedPage of(String html) throws Exception {
        return new ParsedPage(DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(html))));
    }

    List<String> texts(String element) {
        return elements(document.getDocumentElement(), element).stream()
                .map(Element::getTextContent)
                .toList();
    }

    long count(String element, String style) {
        return elements(document.getDocumentElement(), element).stream()
                .filter(found -> found.getAttribute("class").equals(style))
                .count();
    }

    /** Checks every two labels of each chart; returns how many pairs that were. */
    int assertNoTwoLabelsOverlap() {
        int compared = 0;
        for (Element chart : elements(document.getDocumentElement(), "svg")) {
            List<Label> labels = elements(chart, "text").stream()
                    .filter(text -> !text.getTextContent().isEmpty())
                    .map(Label::of)
                    .toList();
            for (int a = 0; a < labels.size(); a++) {
                for (int b = a + 1; b < labels.size(); b++) {
                    assertThat(labels.get(a).overlaps(labels.get(b)))
                            .as("%s and %s", labels.get(a), labels.get(b))
                            .isFalse();
                    compared++;
                }
            }
        }
        return compared;
    }

    private static List<Element> elements(Element root, String name) {
        NodeList found = root.getElementsByTagName(name);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            elements.add((Element) found.item(i));
        }
        return elements;
    }

    private record Label(String text, double x, double y) {

        /** Of the monospaced font at 11 px. */
        private static final double CHARACTER_WIDTH = 6.6;

        static Label of(Element element) {
            String text = element.getTextContent();
            double x = Double.parseDouble(element.getAttribute("x"));
            boolean centred = element.getAttribute("class").contains("middle");
            return new Label(
                    text,
                    centred ? x - CHARACTER_WIDTH * text.length() / 2 : x,
                    Double.parseDouble(element.getAttribute("y")));
        }

        boolean overlaps(Label other) {
            return Math.abs(y - other.y) < 11
                    && x < other.x + CHARACTER_WIDTH * other.text.length()
                    && other.x < x + CHARACTER_WIDTH * text.length();
        }
    }
}
