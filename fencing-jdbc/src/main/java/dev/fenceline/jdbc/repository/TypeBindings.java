package dev.fenceline.jdbc.repository;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What the type variables of inherited interfaces stand for in a type: in {@code Accounts extends Crud<Account, Long>} the {@code T} of
 * {@code Crud} is an {@code Account}.
 */
final class TypeBindings {

    private static final Map<Class<?>, Class<?>> BOXES = Map.of(
            int.class, Integer.class,
            long.class, Long.class,
            short.class, Short.class,
            byte.class, Byte.class,
            char.class, Character.class,
            boolean.class, Boolean.class,
            float.class, Float.class,
            double.class, Double.class);

    private final Map<TypeVariable<?>, Type> bindings;

    private TypeBindings(Map<TypeVariable<?>, Type> bindings) {
        this.bindings = bindings;
    }

    static TypeBindings of(Class<?> type) {
        Map<TypeVariable<?>, Type> bindings = new HashMap<>();
        bindSupertypes(type, bindings);
        return new TypeBindings(bindings);
    }

    private static void bindSupertypes(Class<?> type, Map<TypeVariable<?>, Type> bindings) {
        for (Type each : type.getGenericInterfaces()) {
            bind(each, bindings);
        }
        if (type.getGenericSuperclass() != null) {
            bind(type.getGenericSuperclass(), bindings);
        }
    }

    private static void bind(Type type, Map<TypeVariable<?>, Type> bindings) {
        if (type instanceof ParameterizedType parameterized && parameterized.getRawType() instanceof Class<?> raw) {
            Type[] arguments = parameterized.getActualTypeArguments();
            TypeVariable<?>[] variables = raw.getTypeParameters();
            for (int i = 0; i < variables.length; i++) {
                bindings.put(variables[i], arguments[i]);
            }
            bindSupertypes(raw, bindings);
        } else if (type instanceof Class<?> raw) {
            bindSupertypes(raw, bindings);
        }
    }

    /** The class of a value that is declared so, boxed if it is a primitive. */
    Class<?> classOf(Type declared) {
        if (declared instanceof Class<?> raw) {
            return BOXES.getOrDefault(raw, raw);
        }
        if (declared instanceof ParameterizedType parameterized) {
            return classOf(parameterized.getRawType());
        }
        if (declared instanceof GenericArrayType array) {
            return classOf(array.getGenericComponentType()).arrayType();
        }
        if (declared instanceof WildcardType wildcard) {
            return classOf(wildcard.getUpperBounds()[0]);
        }
        if (declared instanceof TypeVariable<?> variable) {
            Type bound = bindings.get(variable);
            return classOf(bound == null || bound.equals(variable) ? variable.getBounds()[0] : bound);
        }
        return Object.class;
    }

    /** The class of the elements, if what is declared so is a collection of some kind, or an array. */
    Optional<Class<?>> elementOf(Type declared) {
        Class<?> raw = classOf(declared);
        if (raw.isArray()) {
            return Optional.of(classOf(
                    declared instanceof GenericArrayType array
                            ? array.getGenericComponentType()
                            : raw.getComponentType()));
        }
        if (!Iterable.class.isAssignableFrom(raw)) {
            return Optional.empty();
        }
        Map<TypeVariable<?>, Type> inside = new HashMap<>(bindings);
        bind(resolved(declared), inside);
        return Optional.of(new TypeBindings(inside).classOf(Iterable.class.getTypeParameters()[0]));
    }

    /** The class of what is in it, if what is declared so is an {@code Optional}. */
    Optional<Class<?>> contentOfOptional(Type declared) {
        return classOf(declared) == Optional.class && resolved(declared) instanceof ParameterizedType optional
                ? Optional.of(classOf(optional.getActualTypeArguments()[0]))
                : Optional.empty();
    }

    private Type resolved(Type declared) {
        if (declared instanceof TypeVariable<?> variable) {
            Type bound = bindings.get(variable);
            return resolved(bound == null || bound.equals(variable) ? variable.getBounds()[0] : bound);
        }
        return declared instanceof WildcardType wildcard ? resolved(wildcard.getUpperBounds()[0]) : declared;
    }
}
