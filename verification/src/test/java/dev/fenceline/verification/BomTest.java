package dev.fenceline.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The BOM has no parent, so nothing but this keeps it in step with the build. */
class BomTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern VERSION = Pattern.compile("<version>([^<]+)</version>");
    private static final Pattern OURS =
            Pattern.compile("<groupId>dev\\.fenceline</groupId>\\s*<artifactId>(fenceline-[^<]+)</artifactId>");

    @Test
    void itHasTheVersionOfTheBuild() throws IOException {
        assertThat(first(VERSION, pom("bom"))).isEqualTo(first(VERSION, Files.readString(ROOT.resolve("pom.xml"))));
    }

    @Test
    void itNamesEveryPublishedModuleAndNoOther() throws IOException {
        List<String> managed = OURS.matcher(pom("bom").substring(pom("bom").indexOf("<dependencyManagement>")))
                .results()
                .map(result -> result.group(1))
                .toList();
        assertThat(managed).containsExactlyInAnyOrderElementsOf(published());
    }

    private static List<String> published() throws IOException {
        try (Stream<Path> folders = Files.list(ROOT)) {
            return folders.map(folder -> folder.getFileName().toString())
                    .filter(module -> Files.exists(ROOT.resolve(module).resolve("pom.xml")))
                    .filter(module -> !module.equals("bom"))
                    .map(BomTest::pom)
                    .filter(pom -> !pom.contains("<maven.deploy.skip>true"))
                    .map(pom -> first(Pattern.compile("</parent>\\s*<artifactId>([^<]+)</artifactId>"), pom))
                    .toList();
        }
    }

    private static String pom(String module) {
        try {
            return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as("%s", pattern).isTrue();
        return matcher.group(1);
    }
}
