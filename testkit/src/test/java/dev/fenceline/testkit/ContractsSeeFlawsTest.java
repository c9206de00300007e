package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** A contract that no implementation can break proves nothing: each known flaw must be seen by the rule that is about it. */
@Tag("slow")
class ContractsSeeFlawsTest {

    /** The rule that each flaw breaks; it may break others too. */
    private static final Map<ModelFence.Flaw, String> FENCE_RULES = Map.ofEntries(
            Map.entry(ModelFence.Flaw.NO_CHECK, "aWriteUnderAnOvertakenClaimIsRefusedForGoodAndLeavesTheValue"),
            Map.entry(
                    ModelFence.Flaw.ORDER_ON_WRITES_ALONE,
                    "readByTheNewerLateWriteByTheOlderWriteByTheNewerLosesNothing"),
            Map.entry(ModelFence.Flaw.WRITES_RAISE_THE_MARK, "resumingNeverRaisesTheMark"),
            Map.entry(ModelFence.Flaw.NUMBERS_ALONE, "ofTwoHoldersWithOneNumberOnlyTheFirstIsAdmitted"),
            Map.entry(ModelFence.Flaw.RESUME_RAISES, "resumingOnAnUntouchedResourceIsRejected"),
            Map.entry(ModelFence.Flaw.REFUSAL_MOVES_THE_MARK, "theMarkSurvivesRefusals"),
            Map.entry(ModelFence.Flaw.NOT_IDEMPOTENT, "theSameTokenClaimsAgainAndBothClaimsWrite"),
            Map.entry(ModelFence.Flaw.WRITES_BEFORE_CHECKING, "aResumedClaimWritesUntilItIsOvertaken"),
            Map.entry(ModelFence.Flaw.NO_FUTURE_BOUND, "aTokenOfTheFarFutureIsRejectedAndDoesNotBlockTheResource"),
            Map.entry(ModelFence.Flaw.NARROW_FUTURE_BOUND, "aTokenAsFarAheadAsALockServiceMayIssueIsAdmitted"),
            Map.entry(ModelFence.Flaw.ANY_LOCK, "aTokenOfAnotherLockIsRejectedEvenWhenItIsNewer"),
            Map.entry(ModelFence.Flaw.ERROR_WITHOUT_THE_MARK, "anOlderClaimIsRefusedWithBothTokensAndLeavesTheValue"));

    private static final Map<ModelServer.Flaw, String> LOCK_RULES = Map.ofEntries(
            Map.entry(ModelServer.Flaw.GRANTS_TWICE, "underContentionNoTwoHoldersOverlap"),
            Map.entry(ModelServer.Flaw.ONE_KEY_FOR_BOTH_KINDS, "asFencedAndAsEfficiencyLockOneNameIsTwoLocks"),
            Map.entry(ModelServer.Flaw.CLASS_ALONE_IS_THE_KEY, "everyNameIsALockOfItsOwn"),
            Map.entry(ModelServer.Flaw.TOKENS_REPEAT, "tokensRiseFromGrantToGrantAndHoldersDiffer"),
            Map.entry(ModelServer.Flaw.HOLDER_PER_PROCESS, "tokensRiseFromGrantToGrantAndHoldersDiffer"),
            Map.entry(ModelServer.Flaw.RELEASE_IGNORES_HOLDER, "renewingOrClosingAnExpiredLeaseLeavesTheNewGrantAlone"),
            Map.entry(ModelServer.Flaw.RENEWAL_IGNORES_HOLDER, "renewingOrClosingAnExpiredLeaseLeavesTheNewGrantAlone"),
            Map.entry(ModelServer.Flaw.RELEASE_WAITS_FOR_THE_LEASE, "aReleaseFreesTheLockAtOnce"),
            Map.entry(ModelServer.Flaw.NO_RENEWAL, "aHeldLeaseIsRenewedAndOutlivesItsLeaseTime"),
            Map.entry(ModelServer.Flaw.LOSS_IS_TOLD_TWICE, "anExpiredLeaseIsLostOnceAndItsTokenStillAnswers"),
            Map.entry(ModelServer.Flaw.LOSS_IS_NOT_TOLD, "anExpiredLeaseIsLostOnceAndItsTokenStillAnswers"),
            Map.entry(ModelServer.Flaw.CLOSE_COUNTS_AS_LOSS, "aClosedLeaseIsNotLost"),
            Map.entry(ModelServer.Flaw.CLOSE_FORGETS_LEASES, "closingTheLocksFreesWhatWasHeldAndWakesWaiters"),
            Map.entry(ModelServer.Flaw.CLOSE_WAKES_NOBODY, "closingTheLocksFreesWhatWasHeldAndWakesWaiters"),
            Map.entry(ModelServer.Flaw.INTERRUPT_LEAVES_A_GRANT, "anInterruptedWaitLeavesNothingLocked"),
            Map.entry(ModelServer.Flaw.OVERRUNS_THE_WAIT_LIMIT, "aWaitLimitIsKeptAndTheErrorNamesTheHolder"),
            Map.entry(ModelServer.Flaw.HOLDER_UNKNOWN, "aWaitLimitIsKeptAndTheErrorNamesTheHolder"),
            Map.entry(ModelServer.Flaw.NO_FLOOR, "aRaisedFloorIsPassedByTheNextTokenOfThisLockAlone"),
            Map.entry(ModelServer.Flaw.FLOOR_FOR_ALL, "aRaisedFloorIsPassedByTheNextTokenOfThisLockAlone"),
            Map.entry(ModelServer.Flaw.CANCEL_LEAVES_A_GRANT, "aCancelledFutureLeavesNothingLocked"),
            Map.entry(ModelServer.Flaw.FUTURES_HOLD_THREADS, "futuresThatWaitHoldNoThreads"),
            Map.entry(
                    ModelServer.Flaw.STAGES_RUN_ON_OUR_THREAD, "whatDependsOnAFutureMayBlockWithoutHoldingUpTheLocks"),
            Map.entry(
                    ModelServer.Flaw.LEAST_TIME_IS_IGNORED,
                    "aJobOfInstancesWhoseTimersDifferRunsOnceIfItIsHeldAtLeastThatLong"),
            Map.entry(
                    ModelServer.Flaw.LEAST_TIME_FROM_THE_RELEASE,
                    "aJobThatTakesLongerThanTheLeastTimeFreesTheLockAtOnce"),
            Map.entry(ModelServer.Flaw.CLOSED_IS_AN_OUTAGE, "closedLocksAreAnErrorWhateverWasChosenForAnOutage"));

    @Nested
    class TheModelFenceKeepsTheContract extends NamedFenceContract {
        @Override
        protected FenceDriver resource(LockName resource, String value) {
            return new ModelFence(resource, value, ModelFence.Flaw.NONE);
        }
    }

    @Nested
    class TheModelLocksKeepTheContract extends LockContract {
        private final ModelServer server = new ModelServer(ModelServer.Flaw.NONE);

        @Override
        protected Locks connect(LockOptions options) {
            return new ModelLocks(server, options);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFlawOfAFenceIsSeen(ModelFence.Flaw flaw) {
        String rule = FENCE_RULES.get(flaw);
        FlawedFence.flaw = flaw;
        try {
            assertThat(failures(FlawedFence.class, rule)).isPositive();
        } finally {
            FlawedFence.flaw = ModelFence.Flaw.NONE;
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFlawOfALockIsSeen(ModelServer.Flaw flaw) {
        String rule = LOCK_RULES.get(flaw);
        FlawedLocks.flaw = flaw;
        try {
            assertThat(failures(FlawedLocks.class, rule)).isPositive();
        } finally {
            FlawedLocks.flaw = ModelServer.Flaw.NONE;
        }
    }

    private static long failures(Class<?> contract, String rule) {
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(DiscoverySelectors.selectMethod(contract, method(contract, rule)))
                .execute()
                .testEvents();
        assertThat(tests.started().count()).as("tests of %s", rule).isPositive();
        return tests.failed().count();
    }

    private static Method method(Class<?> contract, String rule) {
        return Stream.<Class<?>>iterate(contract, Objects::nonNull, Class::getSuperclass)
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(candidate -> candidate.getName().equals(rule))
                .findFirst()
                .orElseThrow(() -> new AssertionError("The contract has no rule " + rule + "."));
    }
}
