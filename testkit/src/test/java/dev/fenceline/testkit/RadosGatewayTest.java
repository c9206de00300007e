package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.S3Client;

class RadosGatewayTest {

    @Test
    void whatIsMissingIsNamedAndWhatToInstall(@TempDir Path empty, @TempDir Path half) throws IOException {
        for (String program : new String[] {"ceph", "ceph-mon", "monmaptool"}) {
            Files.createFile(
                    half.resolve(program),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        assertThatIllegalStateException()
                .isThrownBy(() -> CephProgram.requireAll(empty + File.pathSeparator + half))
                .withMessage("The S3 store of Ceph needs programs that are not installed here: ceph-osd, radosgw-admin,"
                        + " radosgw. Install them (Debian and Ubuntu: apt-get install --no-install-recommends ceph-mon ceph-osd"
                        + " radosgw), or leave -Dfenceline.s3.store out for the store that comes with a library.");
        assertThatIllegalStateException()
                .isThrownBy(() -> CephProgram.requireAll(""))
                .withMessageContaining("monmaptool, ceph-mon, ceph-osd, ceph, radosgw-admin, radosgw.");
    }

    @Test
    void aStoreThatIsNoneIsRefused() {
        try (EmbeddedServers servers = Servers.embedded()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> SharedServers.store("minio", servers))
                    .withMessage(
                            "There is no S3 store 'minio'. Set -Dfenceline.s3.store to s3proxy or radosgw, or leave it out"
                                    + " for s3proxy.");
        }
    }

    @Test
    @Tag("second-store")
    void itStartsKeepsObjectsAndTheirHistoryAndIsGoneAfterwards() {
        EmbeddedServers servers = Servers.embedded();
        AtomicS3 store = servers.radosGateway();
        try (S3Client client = S3Clients.withoutChecksums(store)) {
            String bucket = store.newBucket();
            S3History history = store.watch(bucket, "k");
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("one"));
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("two"));
            assertThat(S3Clients.read(client, bucket, "k")).isEqualTo("two");
            assertThat(history.bodies())
                    .extracting(body -> new String(body, StandardCharsets.UTF_8))
                    .containsExactly("one", "two");
            assertThat(store.newBucket()).isNotEqualTo(bucket);
            assertThat(store.toString()).startsWith("radosgw at http://127.0.0.1:");

            servers.close();
            assertThatThrownBy(() -> S3Clients.read(client, bucket, "k")).isInstanceOf(SdkClientException.class);
        }
    }
}
