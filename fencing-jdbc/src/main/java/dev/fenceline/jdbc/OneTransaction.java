package dev.fenceline.jdbc;

import java.sql.Connection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A connection that has one transaction only, which its work cannot end. */
record OneTransaction(TransactionGuard guard) implements Conduct {

    private static final Set<String> ENDING = Set.of("commit", "setAutoCommit", "close", "abort");
    private static final Set<String> OTHER_STATEMENTS = Set.of("createStatement", "prepareCall", "unwrap");

    @Override
    public @Nullable Object run(JdbcCall call) throws Throwable {
        if (guard.hasEnded()) {
            return answerAfterEnd(call);
        }
        boolean isRefused = call.isOfConnection()
                && guard.isActive()
                && (endsTransaction(call) || (guard.held().isPresent() && OTHER_STATEMENTS.contains(call.name())));
        if (isRefused) {
            throw guard.refuse(call.name() + "()");
        }
        if (call.target() instanceof Connection plain && guard.isLeftOut(call.name(), call.arguments(), plain)) {
            return null;
        }
        return call.proceed();
    }

    /** A connection kept beyond its transaction must do nothing; closing it, or what came from it, is fine. */
    private @Nullable Object answerAfterEnd(JdbcCall call) {
        return switch (call.name()) {
            case "isClosed" -> true;
            case "close" -> null;
            default -> throw guard.afterEnd();
        };
    }

    private static boolean endsTransaction(JdbcCall call) {
        return ENDING.contains(call.name())
                || (call.name().equals("rollback") && call.arguments().isEmpty());
    }
}
