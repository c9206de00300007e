package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.TokenRejectedException;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each message tells what to do about that what it tells. */
@Tag("server")
class RefusalMessagesTest extends ThroughProxy {

    String key;

    RefusalMessagesTest() {
        super(TestStore::withoutRetries);
    }

    @BeforeEach
    void key() {
        key = TestStore.freshKey();
    }

    @Test
    void theRemedyGoesByWhatTheStoreSaysAndNotByItsStatusAlone() {
        remedy(403, "AccessDenied", "Grant this client s3:GetObject, s3:PutObject");
        remedy(403, "SignatureDoesNotMatch", "Compare the secret key of the client, ");
        remedy(403, "InvalidAccessKeyId", "Give the client credentials that this store knows.");
        remedy(400, "ExpiredToken", "Give the client credentials that renew themselves, or fresh ones.");
        remedy(400, "InvalidToken", "Give the client credentials that this store knows.");
        remedy(403, "RequestTimeTooSkewed", "Set the clock of this machine");
        remedy(400, "KeyTooLongError", "Take a shorter key.");
        remedy(400, "AuthorizationHeaderMalformed", "Set the client to the region of the bucket.");
        remedy(301, "PermanentRedirect", "Set the client to the region of the bucket.");
        remedy(400, "InvalidBucketName", "Compare the name of the bucket");
        remedy(400, "KMS.DisabledException", "Look at the key that encrypts");
    }

    private void remedy(int status, String code, String remedy) {
        proxy.on("GET", key).answerInstead(status, code);
        assertThatThrownBy(() -> store.envelope().read(key))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("Read on " + store.resource(key) + " refused by the store: " + status + " "
                        + code + ". Nothing of it happened. " + remedy);
    }

    @Test
    void anObjectThatWasWrittenWithoutTheKeyOfTheReaderIsToldSo() {
        String sentence = "The encryption parameters are not applicable to this object.";
        assertThat(Remedies.of(StoreAnswer.of(400, "InvalidRequest", sentence)))
                .isEqualTo(
                        "Set the encryption that this object was written with, on the fence and on the reader: one that"
                                + " was written without a customer key takes none, and one that was written with it takes that one only."
                                + " The store says: \"" + sentence + "\"");
        assertThat(Remedies.of(StoreAnswer.of(
                        403,
                        "AccessDenied",
                        "User u is not authorized to perform: kms:GenerateDataKey on this resource")))
                .startsWith("Grant this client kms:GenerateDataKey and kms:Decrypt on the key.");
        assertThat(Remedies.of(StoreAnswer.of(400, "InvalidRequest", "Bad Request")))
                .isEqualTo(
                        "Compare the name of the bucket and the settings of the client. The store says: \"Bad Request\"");
    }

    @Test
    void whatTheStoreSaysIsRepeatedWithoutCredentials() {
        String token = "IQoJb3JpZ2luX2VjEJ3//////////wEaCXVzLWVhc3QtMSJHMEUCIQ";
        String said = Remedies.of(StoreAnswer.of(
                403,
                "AccessDenied",
                "No AKIAIOSFODNN7EXAMPLE, Signature=abc123, X-Amz-Security-Token=" + token + " nor " + token
                        + " for http://user:secret@host/x\nsecond line"));
        assertThat(said)
                .endsWith("The store says: \"No ***, Signature=***, X-Amz-Security-Token=*** nor *** for"
                        + " http://***@host/x\"");
        assertThat(Remedies.of(StoreAnswer.of(403, "AccessDenied", "Misconfiguration of arn:aws:s3:::reports/2026/x")))
                .endsWith("\"Misconfiguration of arn:aws:s3:::reports/2026/x\"");
        assertThat(Remedies.of(StoreAnswer.of(403, "AccessDenied", "long ".repeat(100))))
                .hasSizeLessThan(600)
                .endsWith("...\"");
    }

    @Test
    void dataThatSomethingElseHasWrittenIsToldSoOnceASecondReadAgrees() {
        PointerFence fence = store.pointer();
        PointerClaim claim = fence.claim(TestStore.token(key), key);
        claim.write(S3Body.of("data"));
        DataObject object = fence.locate(key).get(0);
        store.put(object.key(), "atad");
        for (ThrowingCallable read : List.<ThrowingCallable>of(
                () -> fence.read(key), () -> fence.readAll(key), claim::read, claim::readAll)) {
            assertThatThrownBy(read)
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageStartingWith("Read on " + store.resource(object.key())
                            + " refused: it came twice with 4 bytes and SHA-256 ")
                    .hasMessageContaining("and was written with 4 bytes and SHA-256 " + object.sha256()
                            + ". Something else wrote it, past the fence. ")
                    .hasMessageEndingWith(
                            "Restore the version that was written, or write the data anew under a claim, and keep"
                                    + " the right to write under '" + key + ".data/' from everybody else.");
        }
        // Whoever writes anew is not held up by what was damaged.
        claim.write(S3Body.of("anew"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("anew");
    }

    @Test
    void anObjectThatSomethingElseHasWrittenOverIsToldSo() {
        EnvelopeClaim claim = store.envelope().claim(TestStore.token(key), key);
        claim.write(S3Body.of("before"));
        store.put(key, "plain");
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("after")));
        assertThat(unknown)
                .hasMessage("Write on " + store.resource(key)
                        + " may have happened or not: something else wrote this key, past the fence, and what stands there"
                        + " does not tell: it is no gzip with an extra field. Read the object, and compare, before doing the"
                        + " work again.");
        assertThat(unknown.resolvable()).isFalse();
    }

    @Test
    void aLostMarkWasLostWithTheObjectOrTheStore() {
        assertThatThrownBy(() -> store.envelope().resume(TestStore.token(key), key))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageContaining(
                        "or the claim was lost with an object or a store that was removed or restored. Begin"
                                + " again: acquire, claim, then read.");
    }

    @Test
    void aPointerWithSeveralObjectsNamesTheMethodForThem() {
        PointerFence fence = store.pointer();
        PointerClaim claim = fence.claim(TestStore.token(key), key);
        claim.write(Map.of("a", S3Body.of("1"), "b", S3Body.of("2")));
        String several = " refused: it has 2 objects, and which one is meant is not said; use ";
        for (ThrowingCallable read : List.<ThrowingCallable>of(() -> fence.read(key), claim::read)) {
            assertThatThrownBy(read)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("Read on " + store.resource(key) + several + "readAll.");
        }
        assertThatThrownBy(() -> claim.update(content -> S3Body.of("3")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Update on " + store.resource(key) + several + "readAll and then change.");
    }

    @Test
    void whatIsMissingIsNamed() {
        for (ObjectClaim claim : List.of(
                store.envelope().claim(TestStore.token(key), key),
                store.pointer().claim(TestStore.token(key + "p"), key + "p"))) {
            String resource = store.resource(claim.key());
            assertThatThrownBy(() -> claim.update(content -> null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage(
                            "Write on " + resource + " refused: the change returned no body. Nothing was written. To"
                                    + " leave nothing, use delete(); to leave what is there, throw.");
            assertThatThrownBy(() -> claim.write((S3Body) null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("Write on " + resource
                            + " refused: there is no body. Nothing was written. To leave nothing, use delete().");
            assertThat(claim.read()).isEmpty();
        }
        for (ThrowingCallable use : List.<ThrowingCallable>of(
                () -> S3Fence.envelope().on(client, null),
                () -> S3Fence.reader(client, null),
                () -> S3Probe.of(client, null))) {
            assertThatThrownBy(use)
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("The name of the bucket is null.");
        }
        assertThatThrownBy(() -> S3Fence.pointer().on(null, "bucket"))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("The S3Client is null.");
    }

    @Test
    void onlyAnObjectOfTheOtherFormatIsSaidToBeForTheOtherFence() {
        store.put(key, "plain");
        assertThatThrownBy(() -> store.envelope().claim(TestStore.token(key), key))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageEndingWith("Nothing was written. Move that object away, or name another key.");
        assertThatThrownBy(() -> store.pointer().claim(TestStore.token(key), key))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageEndingWith("Nothing was written. Move that object away, or name another key.");
        String pointer = TestStore.freshKey();
        store.pointer().claim(TestStore.token(pointer), pointer);
        assertThatThrownBy(() -> store.envelope().read(pointer))
                .hasMessageEndingWith(
                        "it is of the format 'pointer'. Nothing was written. Move that object away, or name"
                                + " another key; a key of the format 'pointer' is for S3Fence.pointer().");
        String envelope = TestStore.freshKey();
        store.envelope().claim(TestStore.token(envelope), envelope);
        assertThatThrownBy(() -> store.pointer().read(envelope))
                .hasMessageEndingWith(
                        "it is of the format 'envelope'. Nothing was written. Move that object away, or name"
                                + " another key; a key of the format 'envelope' is for S3Fence.envelope().");
    }
}
