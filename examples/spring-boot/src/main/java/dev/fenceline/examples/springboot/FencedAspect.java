package dev.fenceline.examples.springboot;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.Unit;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.Order;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronizationManager;

// snippet: spring-aspect
/** Acquires the lock, claims, runs the method and releases. Every transaction in between is fenced by the data source. */
@Aspect
@Component
@Order(100) // outside of @Transactional, which comes last unless it is told otherwise; without an order the aspect
// would be inside
class FencedAspect {

    private final PostgresFence fence;
    private final Locks locks;
    private final ExpressionParser expressions = new SpelExpressionParser();
    private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

    FencedAspect(PostgresFence fence, Locks locks) {
        this.fence = fence;
        this.locks = locks;
    }

    @Around("@annotation(fenced)")
    @Nullable Object inUnit(ProceedingJoinPoint call, Fenced fenced) throws Throwable {
        Method method = ((MethodSignature) call.getSignature()).getMethod();
        Set<LockName> keys = keys(fenced, method, call);
        String which = method.getName() + " under "
                + keys.stream().map(key -> "'" + key + "'").collect(Collectors.joining(" and "));
        if (fence.current().isEmpty()) { // else it joins the unit that is open, or is refused by it
            refuseWhatWasReadBefore(which);
        }
        try {
            return unit(keys).call(claim -> Optional.ofNullable(proceed(call))).orElse(null);
        } catch (InterruptedException e) {
            if (Stream.of(method.getExceptionTypes()).anyMatch(declared -> declared.isInstance(e))) {
                throw e;
            }
            Thread.currentThread().interrupt();
            throw new CannotAcquireLockException(which + " was interrupted while it waited. Nothing was done.", e);
        }
    }

    private Unit<Claim<Connection>> unit(Set<LockName> keys) {
        return keys.size() == 1
                ? fence.unit(locks.fenced(keys.iterator().next()))
                : fence.unit(locks.fencedAll(keys)); // in one order, whatever order is given
    }

    /** A set: a transfer from an account to itself is under one lock. */
    private Set<LockName> keys(Fenced fenced, Method method, ProceedingJoinPoint call) {
        String which = "@Fenced(\"" + fenced.value() + "\") on " + method.getName() + ": the key ";
        // An empty root: with the service in it a forgotten # could find its property, one lock for everybody.
        var context = new MethodBasedEvaluationContext(new Object(), method, call.getArgs(), names);
        Set<LockName> keys = new LinkedHashSet<>();
        for (String key : fenced.key()) {
            Object value;
            try {
                value = expressions.parseExpression(key).getValue(context);
            } catch (ExpressionException e) {
                throw new IllegalArgumentException(
                        which + key + " is none: " + e.getMessage() + ". An argument is written #name.", e);
            }
            if (value == null) {
                throw new IllegalArgumentException(which + key + " is null, which is the lock of nothing. Was null"
                        + " passed, is the name wrong, or was it compiled without -parameters?");
            }
            keys.add(LockName.of(fenced.value(), value));
        }
        return keys;
    }

    /** What was read before the claim may be older than it, and a persistence context would hand it out again. */
    private static void refuseWhatWasReadBefore(String which) {
        String before;
        String instead;
        if (TransactionSynchronizationManager.isActualTransactionActive()) {
            before = "a transaction is active";
            instead = "Call it from outside of @Transactional; if it is the method's own, then the aspect runs inside"
                    + " of @Transactional: give it @Order(100).";
        } else if (TransactionSynchronizationManager.getResourceMap().values().stream()
                .anyMatch(FencedAspect::isEntityManager)) {
            before = "an EntityManager is open";
            instead = "Set spring.jpa.open-in-view=false.";
        } else {
            return;
        }
        throw new IllegalStateException(which + " refused before a lock was acquired: " + before
                + " already, and what was read there may be older than the lock. " + instead);
    }

    /** By name: where there is JdbcTemplate alone, there is no JPA to compile against. */
    private static boolean isEntityManager(Object resource) {
        return Stream.<Class<?>>iterate(resource.getClass(), Objects::nonNull, Class::getSuperclass)
                .anyMatch(type -> type.getName().equals("org.springframework.orm.jpa.EntityManagerHolder"));
    }

    /** What the method throws comes out as it is. */
    private static @Nullable Object proceed(ProceedingJoinPoint call) throws Exception {
        try {
            return call.proceed();
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // neither: no method of Java may throw that
        }
    }
}
// end snippet
