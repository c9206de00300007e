package dev.fenceline.verification;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Says how many tests ran in the whole build, which were skipped or left out and why, and fails on a skipped test that is not
 * on the list of {@code skips.txt}, and on a test class that did not run although no tag left it out. A test that silently no
 * longer runs is a claim that nobody checks.
 */
public final class TestReport {

    private record Skipped(String test, String reason) {}

    private record Module(
            String name,
            int classes,
            int ran,
            int failed,
            Map<String, Integer> ranAgain,
            List<Skipped> skipped,
            TestClasses.Missing missing) {}

    private final Path root;
    private final Instant since;
    private final TestClasses.Selection selection;
    private final Map<String, String> allowed;

    private TestReport(Path root, Instant since, TestClasses.Selection selection, Map<String, String> allowed) {
        this.root = root;
        this.since = since;
        this.selection = selection;
        this.allowed = allowed;
    }

    /**
     * Reads the reports below every module and prints a table.
     *
     * @param args the root folder; when this build began, as ISO instant, since older reports do not count; the list of
     *     tests that may be skipped; the tags that were asked for, the tags that were left out, and the value of {@code -Dtest}
     * @throws IOException when a report cannot be read
     */
    public static void main(String[] args) throws IOException {
        TestClasses.Selection selection = TestClasses.Selection.of(args[3], args[4], args[5]);
        TestReport report =
                new TestReport(Path.of(args[0]), Instant.parse(args[1]), selection, allowed(Path.of(args[2])));
        if (!report.print()) {
            System.exit(1);
        }
    }

    private boolean print() throws IOException {
        List<Module> modules = modules();
        List<String> unlisted = new ArrayList<>();
        List<String> silent = new ArrayList<>();
        System.out.println("Tests of this build" + selection.describe() + ":");
        for (Module module : modules) {
            System.out.printf(
                    "  %-16s %4d ran in %2d classes, %d failed, %d skipped%n",
                    module.name(),
                    module.ran(),
                    module.classes(),
                    module.failed(),
                    module.skipped().size());
            module.ranAgain().forEach((run, tests) -> System.out.println("      " + tests + " of them as " + run));
            for (Skipped skipped : module.skipped()) {
                String why = allowed.get(skipped.test());
                System.out.println("      skipped: " + skipped.test() + " (" + skipped.reason() + ")"
                        + (why == null ? "  NOT ON THE LIST" : "  listed: " + why));
                if (why == null) {
                    unlisted.add(skipped.test());
                }
            }
            module.missing()
                    .leftOut()
                    .forEach((tag, classes) -> System.out.println("      left out by tag '" + tag + "': " + classes));
            // Without any report the module was no part of this build.
            if (module.classes() > 0) {
                silent.addAll(module.missing().silent());
            }
        }
        int ran = modules.stream().mapToInt(Module::ran).sum();
        int failed = modules.stream().mapToInt(Module::failed).sum();
        int skipped = modules.stream().mapToInt(m -> m.skipped().size()).sum();
        System.out.printf("  %-16s %4d ran, %d failed, %d skipped%n", "all", ran, failed, skipped);
        if (!unlisted.isEmpty()) {
            System.out.println("Skipped without being on the list in verification/skips.txt: " + unlisted
                    + ". Make them run, or add them to the list with the reason.");
        }
        if (!silent.isEmpty()) {
            System.out.println("Test classes that did not run, though no tag left them out: " + silent
                    + ". Surefire runs what is called *Test and has tests.");
        }
        if (ran == 0) {
            System.out.println("No test ran at all; that is no success.");
        }
        return unlisted.isEmpty() && silent.isEmpty() && failed == 0 && ran > 0;
    }

    private List<Module> modules() throws IOException {
        // A module may lie inside of another.
        try (Stream<Path> folders = Files.find(root, 2, (folder, attributes) -> attributes.isDirectory())) {
            return folders.filter(folder -> Files.isDirectory(folder.resolve("target/test-classes")))
                    .sorted()
                    .map(this::module)
                    .filter(module ->
                            module.classes() > 0 || !module.missing().leftOut().isEmpty())
                    .toList();
        }
    }

    private Module module(Path folder) {
        int classes = 0;
        int ran = 0;
        int failed = 0;
        List<Skipped> skipped = new ArrayList<>();
        Map<String, Integer> ranAgain = new TreeMap<>();
        List<String> reported = new ArrayList<>();
        Path folderOfReports = folder.resolve("target/surefire-reports");
        try (Stream<Path> files = Files.isDirectory(folderOfReports) ? Files.list(folderOfReports) : Stream.empty()) {
            for (Path report : files.sorted().toList()) {
                Optional<TestClasses.Report> about = TestClasses.Report.of(report);
                if (about.isEmpty()
                        || Files.getLastModifiedTime(report).toInstant().isBefore(since)) {
                    continue;
                }
                classes++;
                reported.add(about.get().testClass());
                int before = ran;
                NodeList cases = parse(report).getElementsByTagName("testcase");
                for (int i = 0; i < cases.getLength(); i++) {
                    Element test = (Element) cases.item(i);
                    NodeList skips = test.getElementsByTagName("skipped");
                    if (skips.getLength() > 0) {
                        String reason = ((Element) skips.item(0)).getAttribute("message");
                        skipped.add(
                                new Skipped(test.getAttribute("classname") + "#" + test.getAttribute("name"), reason));
                        continue;
                    }
                    ran++;
                    failed += test.getElementsByTagName("failure").getLength()
                            + test.getElementsByTagName("error").getLength();
                }
                if (!about.get().run().isEmpty()) {
                    ranAgain.merge(about.get().run(), ran - before, Integer::sum);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the test reports of " + folder, e);
        }
        return new Module(
                folder.getFileName().toString(),
                classes,
                ran,
                failed,
                ranAgain,
                skipped,
                TestClasses.of(folder).without(reported, selection));
    }

    private static Document parse(Path report) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            return factory.newDocumentBuilder().parse(report.toFile());
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("Not a test report: " + report, e);
        }
    }

    private static Map<String, String> allowed(Path list) throws IOException {
        Map<String, String> allowed = new TreeMap<>();
        for (String line : Files.readAllLines(list)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] halves = line.split(" = ", 2);
            if (halves.length != 2 || halves[1].isBlank()) {
                throw new IllegalArgumentException(
                        "Line '" + line + "' of " + list + " is not of the form 'class#test = reason'.");
            }
            allowed.put(halves[0].strip(), halves[1].strip());
        }
        return allowed;
    }
}
