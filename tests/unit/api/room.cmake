target_precompile_headers(unit_api PRIVATE <tenon/tenon.hpp>)
