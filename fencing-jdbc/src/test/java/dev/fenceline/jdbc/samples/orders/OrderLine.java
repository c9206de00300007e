package dev.fenceline.jdbc.samples.orders;

public record OrderLine(String product, int quantity, long cents) {}
