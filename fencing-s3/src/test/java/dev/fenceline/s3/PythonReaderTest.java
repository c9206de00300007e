package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.fenceline.FencingToken;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A reader in Python, written by docs/s3-format.md, reads what Java wrote, mark and all, and refuses what is not by that page. */
@Tag("server")
class PythonReaderTest {

    private static final TestStore STORE = TestStore.fresh();

    @TempDir
    private static Path folder;

    private static Path program;

    @BeforeAll
    static void unpack() throws IOException {
        program = folder.resolve("read_fenced.py");
        try (InputStream in = PythonReaderTest.class.getResourceAsStream("read_fenced.py")) {
            Files.copy(in, program);
        }
    }

    @Test
    void anEnvelopeIsReadInPython() throws Exception {
        requirePython();
        String key = TestStore.freshKey();
        FencingToken token = TestStore.token(key);
        EnvelopeClaim claim = STORE.envelope().claim(token, key);
        claim.write("first".getBytes(StandardCharsets.UTF_8));
        claim.write("Grüße, 世界\n".repeat(200).getBytes(StandardCharsets.UTF_8));

        String read = python(key).out();
        assertMark(read, "envelope", token, "data");
        assertThat(bodies(read)).isEqualTo(Map.of("body", "Grüße, 世界\n".repeat(200)));
        assertThat(text(read, "write")).isEqualTo(hex(mark(key).writeId()));
        assertThat(read).contains("\"replaced\": [\"" + hex(mark(key).replaced().get(0)) + "\", \"");

        claim.delete();
        String tombstone = python(key).out();
        assertMark(tombstone, "envelope", token, "none");
        assertThat(bodies(tombstone)).isEmpty();
    }

    @Test
    void aPointerAndItsDataAreReadInPython() throws Exception {
        requirePython();
        String key = TestStore.freshKey() + "/a name+with%signs ü";
        FencingToken token = TestStore.token(key);
        PointerClaim claim = STORE.pointer().claim(token, key);
        claim.write(Map.of("summary", S3Body.of("a summary"), "parts/one & two", S3Body.of("both")));

        String read = python(key).out();
        assertMark(read, "pointer", token, "data");
        assertThat(bodies(read)).isEqualTo(Map.of("summary", "a summary", "parts/one & two", "both"));

        claim.delete();
        String tombstone = python(key).out();
        assertMark(tombstone, "pointer", token, "none");
        assertThat(bodies(tombstone)).isEmpty();
    }

    @Test
    void whatIsNotByTheFormatIsRefusedInPython() throws Exception {
        requirePython();
        String key = TestStore.freshKey();
        EnvelopeClaim claim = STORE.envelope().claim(TestStore.token(key), key);
        claim.write("whole".getBytes(StandardCharsets.UTF_8));
        byte[] raw = STORE.raw(key);
        raw[raw.length - 1]++;
        assertThat(python(key, raw).err()).contains("refused: the checksum is not that of the body");
        byte[] newer = new String(STORE.raw(key), StandardCharsets.ISO_8859_1)
                .replace("fenceline 1 ", "fenceline 2 ")
                .getBytes(StandardCharsets.ISO_8859_1);
        assertThat(python(key, newer).err()).contains("refused: the first line is fenceline 2 envelope");
    }

    private static S3Mark mark(String key) {
        return S3Fence.reader(STORE.client, STORE.bucket).mark(key).orElseThrow();
    }

    private static void assertMark(String read, String format, FencingToken token, String state) {
        assertThat(text(read, "format")).isEqualTo(format);
        assertThat(text(read, "lock")).isEqualTo(token.lock().toString());
        assertThat(read).contains("\"token\": " + token.value() + ",");
        assertThat(text(read, "holder")).isEqualTo(hex(token.holder()));
        assertThat(text(read, "state")).isEqualTo(state);
    }

    private static String hex(UUID id) {
        return id.toString().replace("-", "");
    }

    private static String text(String json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\": \"([^\"]*)\"").matcher(json);
        assertThat(matcher.find()).as("'%s' in %s", name, json).isTrue();
        return matcher.group(1);
    }

    private static Map<String, String> bodies(String json) {
        String bodies = json.substring(json.indexOf("\"bodies\": {"));
        return Pattern.compile("\"([^\"]*)\": \"([^\"]*)\"")
                .matcher(bodies)
                .results()
                .collect(Collectors.toMap(
                        found -> found.group(1),
                        found -> new String(Base64.getDecoder().decode(found.group(2)), StandardCharsets.UTF_8)));
    }

    private record Said(int exitCode, String out, String err) {}

    /** The bucket as a folder, and the reader on it. */
    private static Said python(String key) throws Exception {
        return python(key, STORE.raw(key));
    }

    private static Said python(String key, byte[] raw) throws Exception {
        Path bucket = Files.createTempDirectory(folder, "bucket");
        for (S3Object object : STORE.client
                .listObjectsV2(list -> list.bucket(STORE.bucket).prefix(key))
                .contents()) {
            Files.write(bucket.resolve(file(object.key())), STORE.raw(object.key()));
        }
        Files.write(bucket.resolve(file(key)), raw);
        Path errors = Files.createTempFile(folder, "errors", ".txt");
        Process process = new ProcessBuilder("python3", program.toString(), bucket.toString(), key)
                .redirectError(errors.toFile())
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return new Said(process.exitValue(), out, Files.readString(errors));
    }

    private static String file(String key) {
        return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static void requirePython() {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(path -> Files.isExecutable(Path.of(path, "python3"))),
                "python3 is not installed here");
    }
}
