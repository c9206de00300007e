package dev.fenceline.jdbc;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencelineException;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Enters for a transaction, as late as can be: before the first statement of the work that is more than a setting, so that the work can
 * still choose isolation and read-only.
 *
 * <p>What it refuses, it refuses for good. The connection of a refused unit is in no fenced transaction any more, so nothing of the work
 * is sent with it, however often the refusal is swallowed.
 */
final class Entering<C> implements TransactionGuard.Gate {

    private final Session<C> session;
    private final FenceSettings settings;
    private final Claim<C> claim;
    private final Entry entry;
    private final TransactionGuard guard;
    private final Aftermath<C> aftermath;
    private final String step;
    private final ReentrantLock once = new ReentrantLock();
    private Optional<String> mode;
    private volatile @Nullable Duration patience;
    private volatile @Nullable FencelineException refusal;
    private volatile GuardSql.@Nullable Entered entered;

    Entering(
            Session<C> session,
            FenceSettings settings,
            Claim<C> claim,
            Entry entry,
            TransactionGuard guard,
            Aftermath<C> aftermath,
            String step) {
        this.session = session;
        this.settings = settings;
        this.claim = claim;
        this.entry = entry;
        this.guard = guard;
        this.aftermath = aftermath;
        this.step = step;
        this.mode = mode();
    }

    private Optional<String> mode() {
        if (entry == Entry.READING) {
            Isolation level = settings.isolation().orElse(Isolation.REPEATABLE_READ) == Isolation.SERIALIZABLE
                    ? Isolation.SERIALIZABLE
                    : Isolation.REPEATABLE_READ;
            return Optional.of("SET TRANSACTION ISOLATION LEVEL " + level.sql() + ", READ ONLY");
        }
        return settings.isolation().map(level -> "SET TRANSACTION ISOLATION LEVEL " + level.sql());
    }

    /** The transaction that entered; empty as long as none has. */
    Optional<GuardSql.Entered> entered() {
        return Optional.ofNullable(entered);
    }

    /**
     * How long the transaction may wait at entering, and lie idle afterwards. As of entering, and not as of its beginning: until then it
     * keeps nobody out.
     */
    Duration patience() {
        Duration measured = patience;
        return measured != null ? measured : claim.patience();
    }

    /** Why it was refused. */
    Optional<FencelineException> refusal() {
        return Optional.ofNullable(refusal);
    }

    @Override
    public void beforeSetting() {
        once.lock();
        try {
            // What the work sets counts, and so ours comes first. A reading transaction is one whatever the work sets.
            if (entered == null && mode.isPresent() && entry != Entry.READING) {
                String set = mode.get();
                mode = Optional.empty();
                try (Statement statement = session.connection().createStatement()) {
                    statement.execute(set);
                } catch (SQLException e) {
                    throw refused(notSent(e));
                }
            }
        } finally {
            once.unlock();
        }
    }

    @Override
    public void isolationChosen() {
        if (entry != Entry.READING) {
            mode = Optional.empty();
        }
    }

    @Override
    public void beforeStatement() {
        enter();
    }

    /** Enters if that was not done yet. Throws the same exception each time if it is refused. */
    GuardSql.Entered enter() {
        once.lock();
        try {
            FencelineException before = refusal;
            if (before != null) {
                throw before;
            }
            GuardSql.Entered done = entered;
            if (done == null) {
                done = enterNow();
                entered = done;
            }
            return done;
        } finally {
            once.unlock();
        }
    }

    private GuardSql.Entered enterNow() {
        Optional<SQLException> failedSetting = guard.failure();
        if (failedSetting.isPresent()) {
            throw refused(
                    guard.lost().isPresent()
                            ? aftermath.lost(session, failedSetting.get())
                            : aftermath.rolledBack(
                                    failedSetting.get(), "a statement failed, and the work went on as if it had not"));
        }
        try {
            claim.refuseIfOvertaken(step);
        } catch (StaleTokenException overtaken) {
            throw refused(overtaken);
        }
        Connection connection = session.connection();
        Duration wait = claim.patience();
        patience = wait;
        try {
            session.limitNetwork(claim.presented().longestAnswer(wait));
            GuardSql.Entered done =
                    GuardSql.enter(connection, entry, mode, claim.presented(), wait, settings.transactionTimeout());
            // How long the work's own statements may take is the user's to say.
            session.restoreNetwork();
            if (done.isReading() && entry != Entry.READING && !guard.hasSettings()) {
                throw refused(new BackendMisconfiguredException(
                        step + " on " + claim.presented().resource() + " refused: the session is read-only. Set"
                                + " default_transaction_read_only = off for this role, and readOnly=false in the data source; or"
                                + " use readOnly of the claim.",
                        null));
            }
            claim.answered(done.at());
            return done;
        } catch (SQLException e) {
            throw refused(notEntered(e));
        }
    }

    private FencelineException notEntered(SQLException e) {
        boolean isJudged =
                SqlFailure.has(e, SqlFailure.NOT_THE_MARK) || SqlFailure.isRetryable(e) || SqlFailure.isTimeout(e);
        return isJudged && !SqlFailure.isConnectionLost(e, session.connection())
                ? aftermath.notEntered(session, e)
                : notSent(e);
    }

    private FencelineException notSent(SQLException e) {
        return SqlFailure.isConnectionLost(e, session.connection())
                ? aftermath.lost(session, e)
                : Refusals.refused(step, claim.presented().resource(), e, session.connection());
    }

    private FencelineException refused(FencelineException why) {
        refusal = why;
        guard.refuseAll(why);
        return why;
    }
}
