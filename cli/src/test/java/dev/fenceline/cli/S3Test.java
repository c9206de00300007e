package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.s3.EtagForm;
import dev.fenceline.s3.PointerFence;
import dev.fenceline.s3.S3Fence;
import dev.fenceline.s3.S3ProbeReport;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.S3Server;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** Fenced objects in S3, as an operator sees them. */
@Tag("server")
class S3Test {

    private static final LockName LOCK = LockName.of("report", 2026);

    private final S3Server server = SharedServers.s3();
    private final String bucket = server.newBucket();

    private ScriptedTerminal terminal() {
        return terminal(server, bucket);
    }

    private static ScriptedTerminal terminal(S3Server server, String bucket) {
        return new ScriptedTerminal()
                .with("FENCELINE_S3", "s3://" + bucket)
                .with("FENCELINE_S3_ENDPOINT", server.endpoint().toString())
                .with("AWS_ACCESS_KEY_ID", server.accessKey())
                .with("AWS_SECRET_ACCESS_KEY", server.secretKey());
    }

    private S3Client client() {
        return S3Client.builder()
                .endpointOverride(server.endpoint())
                .region(Region.of(server.region()))
                .forcePathStyle(true)
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(server.accessKey(), server.secretKey())))
                .build();
    }

    private PointerFence fence(S3Client client) {
        return S3Fence.pointer()
                .probed(new S3ProbeReport("a store of the testkit", EtagForm.AS_RECEIVED, List.of()))
                .on(client, bucket);
    }

    private static FencingToken token(int later) {
        return new FencingToken(
                LOCK, ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) + later, UUID.randomUUID());
    }

    @Test
    void theProbeAndTheDoctorSayThatFencesHoldAndThatTheyDoNot() {
        assertThat(terminal().run("s3", "probe").ends(0).out())
                .isEqualTo("S3 bucket '" + bucket + "': fences hold here." + System.lineSeparator());
        assertThat(terminal()
                        .run("doctor", "--json")
                        .ends(0)
                        .json()
                        .at("/examined")
                        .toString())
                .isEqualTo("[\"s3\"]");
        try (EmbeddedServers others = Servers.embedded()) {
            S3Server racing = others.racingS3();
            String raced = racing.newBucket();
            JsonNode probed =
                    terminal(racing, raced).run("s3", "probe", "--json").ends(1).json();
            assertThat(probed.at("/safe").asBoolean()).isFalse();
            assertThat(probed.at("/outcome").asText()).isEqualTo("findings");
            assertThat(probed.at("/findings/0/code").asText()).isEqualTo("s3-race");
            assertThat(terminal(racing, raced).run("doctor").ends(1).out())
                    .contains("ERROR s3-race: S3 bucket '" + raced + "'", "S3: 1 finding.");
        }
    }

    @Test
    void theMarkAndWhatLiesThereAreShown() {
        FencingToken token = token(0);
        assertThat(terminal().run("s3", "show", "2026/report.pdf").ends(0).out())
                .isEqualTo("Nothing is at '2026/report.pdf': it was never claimed." + System.lineSeparator());
        try (S3Client client = client()) {
            fence(client).claim(token, "2026/report.pdf").write("a report".getBytes(StandardCharsets.UTF_8));
        }
        assertThat(terminal().run("s3", "show", "2026/report.pdf").ends(0).out())
                .contains("'2026/report.pdf' (pointer) of lock 'report:2026'")
                .contains("token " + token.value() + "/" + token.holder())
                .contains("object 'body': 8 bytes at '2026/report.pdf.data/");
        JsonNode mark = terminal()
                .run("s3", "show", "2026/report.pdf", "--json")
                .ends(0)
                .json()
                .at("/mark");
        assertThat(mark.at("/format").asText()).isEqualTo("pointer");
        assertThat(mark.at("/token").asLong()).isEqualTo(token.value());
        assertThat(mark.at("/objects/0/length").asLong()).isEqualTo(8);
    }

    @Test
    void dataThatNobodyNamesIsListedAndRemovedWhenSomebodyMeansIt() {
        try (S3Client client = client()) {
            PointerFence fence = fence(client);
            assertThat(terminal().run("s3", "gc", "k").ends(0).out())
                    .isEqualTo("Nothing is at 'k': it was never claimed." + System.lineSeparator());
            fence.claim(token(0), "k").write(new byte[] {1});
            fence.claim(token(1), "k").write(new byte[] {2, 2});
            assertThat(terminal().run("s3", "gc", "k", "--dry-run").ends(0).out())
                    .isEqualTo("Nothing is to be removed for 'k'." + System.lineSeparator());
            assertThat(terminal()
                            .run("s3", "gc", "k", "--dry-run", "--grace", "0s")
                            .ends(0)
                            .out())
                    .contains("'k.data/", ", 1 bytes, of ", "1 object would be removed; nothing was.");
            terminal()
                    .run("s3", "gc", "k", "--grace", "0s")
                    .failsWith(2, "This removes 1 object that 'k' does not name any more.", "--yes");
            JsonNode removed = terminal()
                    .run("s3", "gc", "k", "--grace", "0s", "--yes", "--json")
                    .ends(0)
                    .json();
            assertThat(removed.at("/removed").size()).isEqualTo(1);
            assertThat(removed.at("/removed/0/size").asLong()).isEqualTo(1);
            assertThat(fence.read("k").orElseThrow().bytes()).containsExactly(2, 2);
        }
    }

    @Test
    void whatIsNotUnderstoodIsSaidAndNoKeyIsTakenAsAnArgument() {
        new ScriptedTerminal()
                .run("s3", "probe")
                .fails(2, "No bucket is named: give --s3 s3://BUCKET, or set FENCELINE_S3.");
        new ScriptedTerminal()
                .run("s3", "probe", "--s3", "reports")
                .failsWith(2, "The address of --s3 is none of a bucket. It reads s3://BUCKET.");
        new ScriptedTerminal()
                .with("FENCELINE_S3", "https://reports")
                .run("s3", "probe")
                .fails(2, "The address of FENCELINE_S3 is none of a bucket. It reads s3://BUCKET.");
        for (String[] secret : List.of(
                new String[] {"--s3-secret-key", "hunter2"},
                new String[] {"--s3", "s3://me:hunter2@reports"},
                new String[] {"--s3-endpoint", "https://me:hunter2@host"})) {
            Ran ran = terminal().run("s3", "probe", secret[0], secret[1]);
            ran.failsWith(
                    2, " is refused: arguments can be read by everybody on this machine", "AWS_SECRET_ACCESS_KEY");
            assertThat(ran.err()).doesNotContain("hunter2");
        }
        terminal().run("s3", "gc", "k", "--grace", "soon").failsWith(2, "'soon' is no duration");
        terminal()
                .with("FENCELINE_S3_ENDPOINT", "ftp://host")
                .run("s3", "show", "k")
                .failsWith(2, "The address of FENCELINE_S3_ENDPOINT is none of a store.");
    }

    @Test
    void whereNoCredentialsAreFoundItIsSaidWhatToSet() {
        assertThatThrownBy(() -> S3Options.found(() -> {
                    throw SdkClientException.create(
                            "Unable to load credentials from any of the providers in the chain");
                }))
                .isInstanceOf(Failure.class)
                .hasMessage(
                        "No credentials for S3 are found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile that"
                                + " has them with AWS_PROFILE, or run this where the machine has a role. With --verbose it says where it"
                                + " looked.")
                .satisfies(thrown -> assertThat(((Failure) thrown).outcome()).isEqualTo(Outcome.USAGE))
                .hasCauseInstanceOf(SdkClientException.class);
    }

    @Test
    void theHelpOfGcSaysHowOldDataHasToBe() {
        assertThat(new ScriptedTerminal()
                        .run("s3", "gc", "--help")
                        .ends(0)
                        .out()
                        .replaceAll("\\s+", " "))
                .contains("How old data has to be, from when it was written.");
    }

    @Test
    void aStoreThatIsDownOrRefusesIsTold() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        terminal()
                .with("FENCELINE_S3_ENDPOINT", "http://127.0.0.1:" + port)
                .run("s3", "show", "k")
                .failsWith(3, "S3 object 's3://" + bucket + "/k'");
        terminal()
                .with("AWS_SECRET_ACCESS_KEY", "another-secret")
                .run("s3", "show", "k")
                .failsWith(1, "S3 object 's3://" + bucket + "/k'");
    }
}
