package dev.fenceline.examples.springboot;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.stereotype.Component;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

// snippet: spring-methods
/** Lets the application not start with a {@code @Fenced} that would do nothing: a proxy of Spring passes over such methods in silence. */
@Component
class FencedMethods implements BeanPostProcessor {

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        Class<?> type = ClassUtils.getUserClass(bean); // the bean is no proxy yet
        ReflectionUtils.doWithMethods(type, method -> check(method, type), FencedMethods::isFenced);
        for (Class<?> of : ClassUtils.getAllInterfacesForClass(type)) {
            ReflectionUtils.doWithMethods(of, method -> check(method, type), FencedMethods::isFenced);
        }
        return bean;
    }

    private static boolean isFenced(Method method) {
        return method.isAnnotationPresent(Fenced.class);
    }

    private static void check(Method method, Class<?> type) {
        String reason = whyNot(method, type);
        if (reason != null) {
            throw new IllegalStateException(
                    "@Fenced on " + ClassUtils.getQualifiedMethodName(method) + " does nothing: the method " + reason);
        }
    }

    private static @Nullable String whyNot(Method method, Class<?> type) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers)) {
            return "is private. Put it on the method that others call.";
        }
        if (Modifier.isFinal(modifiers) || Modifier.isStatic(modifiers)) {
            return "is " + (Modifier.isStatic(modifiers) ? "static" : "final") + ", and no proxy can override that.";
        }
        return isFenced(ClassUtils.getMostSpecificMethod(method, type))
                ? null
                : "is implemented or overridden in " + type.getSimpleName() + ", without it. Put it there, too.";
    }
}
// end snippet
