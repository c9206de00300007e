package dev.fenceline.bench;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Markdown page with blocks that the runner writes, {@code <!-- bench:NAME -->} to {@code <!-- /bench -->}. What stands
 * around them is written by people.
 */
final class Page {

    private static final Pattern BLOCK =
            Pattern.compile("(<!-- bench:([a-z0-9]+) -->\n).*?(<!-- /bench -->)", Pattern.DOTALL);

    private Page() {}

    /** Fills the blocks of which there is something new; the others stay as they are. */
    static String filled(String page, Map<String, String> blocks) {
        return BLOCK.matcher(page).replaceAll(found -> {
            String fresh = blocks.get(found.group(2));
            return Matcher.quoteReplacement(
                    fresh == null ? found.group() : found.group(1) + fresh.strip() + "\n" + found.group(3));
        });
    }
}
