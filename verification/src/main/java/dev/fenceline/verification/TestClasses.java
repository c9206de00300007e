package dev.fenceline.verification;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The test classes of a module as its sources have them. Surefire's reports do not say what it left out by tag, so what did not
 * run can only be seen by comparing.
 */
final class TestClasses {

    private static final Pattern TAG = Pattern.compile("@Tag\\(\"([^\"]+)\"\\)");
    private static final Pattern ABSTRACT = Pattern.compile("(?m)^(public )?abstract class ");

    /** Which tests this build was asked to run. */
    record Selection(Set<String> asked, Set<String> leftOut, boolean single) {

        /** Reads Maven's properties; one that is not set stays as it was written, with its dollar sign. */
        static Selection of(String groups, String excludedGroups, String test) {
            return new Selection(words(groups), words(excludedGroups), !test.isBlank() && !test.startsWith("$"));
        }

        private static Set<String> words(String commaSeparated) {
            return Arrays.stream(commaSeparated.split(","))
                    .map(String::strip)
                    .filter(word -> !word.isEmpty() && !word.startsWith("$"))
                    .collect(Collectors.toSet());
        }

        String describe() {
            return single ? ", only those that -Dtest names" : asked.isEmpty() ? "" : ", only those tagged " + asked;
        }
    }

    /** Classes without a report: by the tag that left them out, and those for which there is no reason. */
    record Missing(Map<String, List<String>> leftOut, List<String> silent) {}

    /** The file of a report: of which class, and in which further run of it, if it is run on several servers. */
    record Report(String testClass, String run) {

        private static final Pattern FILE = Pattern.compile("TEST-([^-]+)(?:-(.+))?\\.xml");

        static Optional<Report> of(Path file) {
            Matcher name = FILE.matcher(file.getFileName().toString());
            return name.matches()
                    ? Optional.of(new Report(name.group(1), Objects.requireNonNullElse(name.group(2), "")))
                    : Optional.empty();
        }
    }

    private record TestClass(String name, Set<String> tags) {}

    private final List<TestClass> classes;

    private TestClasses(List<TestClass> classes) {
        this.classes = classes;
    }

    static TestClasses of(Path module) {
        Path sources = module.resolve("src/test/java");
        if (!Files.isDirectory(sources)) {
            return new TestClasses(List.of());
        }
        try (Stream<Path> files = Files.walk(sources)) {
            List<TestClass> classes = new ArrayList<>();
            for (Path file : files.filter(path -> path.toString().endsWith("Test.java"))
                    .sorted()
                    .toList()) {
                String text = Files.readString(file);
                if (!ABSTRACT.matcher(text).find()) {
                    String name = sources.relativize(file)
                            .toString()
                            .replace(".java", "")
                            .replaceAll("[/\\\\]", ".");
                    Set<String> tags =
                            TAG.matcher(text).results().map(tag -> tag.group(1)).collect(Collectors.toSet());
                    classes.add(new TestClass(name, tags));
                }
            }
            return new TestClasses(classes);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the tests of " + module, e);
        }
    }

    Missing without(Collection<String> reported, Selection selection) {
        Map<String, List<String>> leftOut = new TreeMap<>();
        List<String> silent = new ArrayList<>();
        for (TestClass test : classes) {
            if (reported.contains(test.name()) || selection.single()) {
                continue;
            }
            String tag = test.tags().stream()
                    .filter(selection.leftOut()::contains)
                    .findFirst()
                    .orElse("");
            boolean asked = selection.asked().isEmpty() || test.tags().stream().anyMatch(selection.asked()::contains);
            String simple = test.name().substring(test.name().lastIndexOf('.') + 1);
            if (!tag.isEmpty()) {
                leftOut.computeIfAbsent(tag, key -> new ArrayList<>()).add(simple);
            } else if (asked) {
                silent.add(test.name());
            }
        }
        return new Missing(leftOut, silent);
    }
}
