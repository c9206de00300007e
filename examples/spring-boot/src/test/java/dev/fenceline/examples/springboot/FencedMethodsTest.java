package dev.fenceline.examples.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** An application in which {@code @Fenced} is on a method that no proxy can fence does not start. */
class FencedMethodsTest {

    private static void start(Class<?> service) {
        try (var context = new AnnotationConfigApplicationContext(FencedMethods.class, service)) {
            assertThat(context.getBean(service)).isNotNull();
        }
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "Private | Private.withdraw | is private. Put it on the method that others call.",
                "Final   | Final.withdraw   | is final, and no proxy can override that.",
                "Static  | Static.withdraw  | is static, and no proxy can override that.",
                "Heir    | Final.withdraw   | is final, and no proxy can override that.",
                "Over    | Fine.withdraw    | is implemented or overridden in Over, without it. Put it there, too.",
                "Teller  | Desk.withdraw    | is implemented or overridden in Teller, without it. Put it there, too."
            })
    void aMethodThatNoProxyFencesIsRefusedAtTheStart(String service, String method, String reason) throws Exception {
        Class<?> type = Class.forName(FencedMethodsTest.class.getName() + "$" + service);
        assertThatThrownBy(() -> start(type))
                .isInstanceOf(BeanCreationException.class)
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("@Fenced on " + FencedMethodsTest.class.getName() + "$" + method
                        + " does nothing: the method " + reason);
    }

    @Test
    void othersStart() {
        start(Fine.class);
    }

    static class Fine {
        @Fenced(value = "account", key = "#id")
        void withdraw(long id) {}

        @Fenced(value = "account", key = "#id")
        protected void deposit(long id) {}
    }

    static class Over extends Fine {
        @Override
        void withdraw(long id) {}
    }

    @SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // that nobody calls it is the point
    static class Private {
        @Fenced(value = "account", key = "#id")
        private void withdraw(long id) {}
    }

    static class Final {
        @Fenced(value = "account", key = "#id")
        final void withdraw(long id) {}
    }

    static class Heir extends Final {}

    static class Static {
        @Fenced(value = "account", key = "#id")
        static void withdraw(long id) {}
    }

    interface Desk {
        @Fenced(value = "account", key = "#id")
        void withdraw(long id);
    }

    static class Teller implements Desk {
        @Override
        public void withdraw(long id) {}
    }
}
