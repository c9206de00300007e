package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Whoever is refused by a probe looks its code up. */
class ProbeCodesTest {

    @Test
    void thePageForOperatorsSaysOfEachFindingWhatToDo() throws IOException {
        Set<String> found = codes("src/main/java/dev/fenceline/s3/S3Probe.java", "\"(s3-[a-z-]+)\"");
        assertThat(found).hasSizeGreaterThan(10);
        assertThat(codes("../docs/operations.md", "`(s3-[a-z-]+)`")).isEqualTo(found);
    }

    private static Set<String> codes(String file, String pattern) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(Path.of(file)))
                .results()
                .map(code -> code.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
