package dev.fenceline.examples.pausedwriter;

import java.util.List;
import java.util.Locale;

/** Writes the few SVG elements that the timeline needs. Every text is escaped; styles come from the page's style sheet. */
final class Svg {

    private final StringBuilder body = new StringBuilder();

    static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> {
                    // XML has no way to write control characters, not even escaped.
                    boolean control = Character.isISOControl(c) && c != '\n' && c != '\t';
                    escaped.appendCodePoint(control ? '\uFFFD' : c);
                }
            }
        });
        return escaped.toString();
    }

    void rect(String style, double x, double y, double width, double height, String tooltip) {
        element(
                "rect",
                style,
                String.format(
                        Locale.ROOT,
                        "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\"",
                        x,
                        y,
                        Math.max(width, 1),
                        height),
                tooltip);
    }

    void line(String style, double x1, double y1, double x2, double y2) {
        element(
                "line",
                style,
                String.format(Locale.ROOT, "x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", x1, y1, x2, y2),
                "");
    }

    void circle(String style, double x, double y, double radius, String tooltip) {
        element(
                "circle",
                style,
                String.format(Locale.ROOT, "cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", x, y, radius),
                tooltip);
    }

    void diamond(String style, double x, double y, double radius, String tooltip) {
        path(
                style,
                String.format(
                        Locale.ROOT, "M%.1f %.1fl%3$.1f %3$.1f -%3$.1f %3$.1f -%3$.1f -%3$.1fz", x, y - radius, radius),
                tooltip);
    }

    void cross(String style, double x, double y, double radius, String tooltip) {
        path(
                style,
                String.format(
                        Locale.ROOT,
                        "M%.1f %.1fl%3$.1f %3$.1fm0 -%3$.1fl-%3$.1f %3$.1f",
                        x - radius,
                        y - radius,
                        2 * radius),
                tooltip);
    }

    /** Many short vertical strokes as one element. */
    void ticks(String style, List<Double> xs, double y, double height) {
        if (xs.isEmpty()) {
            return;
        }
        StringBuilder strokes = new StringBuilder();
        for (double x : xs) {
            strokes.append(String.format(Locale.ROOT, "M%.1f %.1fv%.1f", x, y, height));
        }
        path(style, strokes.toString(), "");
    }

    void path(String style, String strokes, String tooltip) {
        element("path", style, "d=\"" + strokes + "\"", tooltip);
    }

    void text(String style, double x, double y, String text) {
        body.append(String.format(Locale.ROOT, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", style, x, y))
                .append(escape(text))
                .append("</text>\n");
    }

    String element(double width, double height, String description) {
        return String.format(Locale.ROOT, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">", width, height) + "<title>"
                + escape(description) + "</title>\n" + body + "</svg>\n";
    }

    private void element(String name, String style, String geometry, String tooltip) {
        body.append('<')
                .append(name)
                .append(" class=\"")
                .append(style)
                .append("\" ")
                .append(geometry);
        if (tooltip.isEmpty()) {
            body.append("/>\n");
        } else {
            body.append("><title>")
                    .append(escape(tooltip))
                    .append("</title></")
                    .append(name)
                    .append(">\n");
        }
    }
}
