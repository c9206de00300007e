package dev.fenceline.examples.springboot;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The clearing of an example: it has no objections. */
@Configuration(proxyBeanMethods = false)
class ClearingConfiguration {

    @Bean
    Clearing clearing() {
        return (account, cents) -> {};
    }
}
