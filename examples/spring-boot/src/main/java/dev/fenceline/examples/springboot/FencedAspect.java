package dev.fenceline.examples.springboot;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import jakarta.persistence.EntityManagerFactory;
import java.lang.reflect.Method;
import java.util.Optional;
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
    private final EntityManagerFactory entityManagers;
    private final ExpressionParser expressions = new SpelExpressionParser();
    private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

    FencedAspect(PostgresFence fence, Locks locks, EntityManagerFactory entityManagers) {
        this.fence = fence;
        this.locks = locks;
        this.entityManagers = entityManagers;
    }

    @Around("@annotation(fenced)")
    @Nullable Object inUnit(ProceedingJoinPoint call, Fenced fenced) throws Throwable {
        Method method = ((MethodSignature) call.getSignature()).getMethod();
        LockName lock = lock(fenced, method, call);
        if (fence.current().isEmpty()) { // else it joins the unit that is open, or is refused by it
            refuseWhatWasReadBefore(method, lock);
        }
        try {
            return fence.unit(locks.fenced(lock))
                    .call(claim -> Optional.ofNullable(proceed(call)))
                    .orElse(null);
        } catch (InterruptedException e) {
            if (Stream.of(method.getExceptionTypes()).anyMatch(declared -> declared.isInstance(e))) {
                throw e;
            }
            Thread.currentThread().interrupt();
            throw new CannotAcquireLockException(
                    method.getName() + " under '" + lock + "' was interrupted while it waited. Nothing was done.", e);
        }
    }

    private LockName lock(Fenced fenced, Method method, ProceedingJoinPoint call) {
        var context = new MethodBasedEvaluationContext(call.getTarget(), method, call.getArgs(), names);
        Object key = expressions.parseExpression(fenced.key()).getValue(context);
        if (key == null) {
            throw new IllegalArgumentException("@Fenced(\"" + fenced.value() + "\") on " + method.getName()
                    + ": the key " + fenced.key() + " is null, which is the lock of nothing.");
        }
        return LockName.of(fenced.value(), key);
    }

    /** What was read before the claim may be older than it, and a persistence context would hand it out again. */
    private void refuseWhatWasReadBefore(Method method, LockName lock) {
        String before;
        if (TransactionSynchronizationManager.isActualTransactionActive()) {
            before = "a transaction is active already. Call it from outside of @Transactional";
        } else if (TransactionSynchronizationManager.hasResource(entityManagers)) {
            before = "an EntityManager is open already. Set spring.jpa.open-in-view=false";
        } else {
            return;
        }
        throw new IllegalStateException(
                method.getName() + " under '" + lock + "' refused before the lock was acquired: " + before
                        + "; what was read there may be older than the lock.");
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
