package dev.fenceline.examples.springboot;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The service. It expects a database in which the fence is installed, and a Redis; see {@code application.properties}. */
@SpringBootApplication
class BankApplication {

    /**
     * Starts it.
     *
     * @param args settings of Spring Boot
     */
    public static void main(String[] args) {
        SpringApplication.run(BankApplication.class, args);
    }
}
