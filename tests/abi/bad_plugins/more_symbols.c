__attribute__((visibility("default"))) int tenon_test_one_symbol_too_many;
