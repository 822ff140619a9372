#include "plugin/master_url.hpp"

#include <gtest/gtest.h>

#include "tenon/error.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {
namespace {

struct Good {
  const char *url, *scheme, *args, *rest, *authority, *path;
  std::vector<std::pair<std::string, std::string>> query;
};

TEST(MasterUrl, C19_1_Grammar) {
  const Good rows[] = {
      {"local", "local", "", "", "", "", {}},
      {"local[4]", "local", "4", "", "", "", {}},
      {"local:4", "local", "4", "", "", "", {}},
      {"local[*,3]", "local", "*,3", "", "", "", {}},
      {"local[ * , 3 ]", "local", "* , 3", "", "", "", {}},
      {"local[2]?a=b", "local", "2", "", "", "", {{"a", "b"}}},
      {"local-cluster[2,1,1024]", "local-cluster", "2,1,1024", "", "", "", {}},
      {"localhost:1234", "localhost", "1234", "", "", "", {}},
      {"myclusterManager", "myclusterManager", "", "", "", "", {}},
      {"slurm://", "slurm", "", "", "", "", {}},
      {"standalone://h1:7077,h2:7077",
       "standalone",
       "",
       "h1:7077,h2:7077",
       "h1:7077,h2:7077",
       "",
       {}},
      {"standalone://h1", "standalone", "", "h1", "h1", "", {}},
      {"standalone://[::1]:7077", "standalone", "", "[::1]:7077", "[::1]:7077", "", {}},
      {"yarn-like://rm:8032?queue=etl&x=",
       "yarn-like",
       "",
       "rm:8032?queue=etl&x=",
       "rm:8032",
       "",
       {{"queue", "etl"}, {"x", ""}}},
      {"a+b.c_1://h:1/p/q?k=v", "a+b.c_1", "", "h:1/p/q?k=v", "h:1", "/p/q", {{"k", "v"}}},
      {"x[1]://h", "x", "1", "h", "h", "", {}},
      {"x:1://h", "x", "1", "h", "h", "", {}},
      // Not a list of hosts: the plugin's to read, unchanged.
      {"k8s://https://api:6443?a", "k8s", "", "https://api:6443?a", "", "", {}},
      {"x://h:0", "x", "", "h:0", "", "", {}},
      {"x://h:65536", "x", "", "h:65536", "", "", {}},
      {"x://h:port", "x", "", "h:port", "", "", {}},
      {"x://h:1,", "x", "", "h:1,", "", "", {}},
      {"x:///only/path", "x", "", "/only/path", "", "", {}},
  };
  for (const Good& row : rows) {
    SCOPED_TRACE(row.url);
    const MasterUrl url = parse_master_url(row.url);
    EXPECT_EQ(url.raw, row.url);
    EXPECT_EQ(url.scheme, row.scheme);
    EXPECT_EQ(url.args, row.args);
    EXPECT_EQ(url.rest, row.rest);
    EXPECT_EQ(url.authority, row.authority);
    EXPECT_EQ(url.path, row.path);
    EXPECT_EQ(url.query, row.query);
  }
}

struct Bad {
  std::string url;
  const char* why;
  const char* quoted = nullptr;  // when not the URL itself
};

TEST(MasterUrl, C29_17_BadOnesAreUsageErrorsThatQuoteTheUrl) {
  static const Bad rows[] = {
      {"", "is empty"},
      {"  ", "is empty"},
      {"://h", "must begin with a scheme"},
      {"2local", "must begin with a scheme"},
      {"[2]", "must begin with a scheme"},
      {" local", "must begin with a scheme"},
      {"local[", "the bracket '[' is not closed"},
      {"local[2", "the bracket '[' is not closed"},
      {"local[]", "nothing stands between the brackets"},
      {"local[ ]", "nothing stands between the brackets"},
      {"local:", "nothing stands after the colon"},
      {"local[2]//x", "'//x' is left over after 'local[2]'"},
      {"local[2] ", "' ' is left over after 'local[2]'"},
      {"local[2][3]", "'[3]' is left over"},
      {"local 2", "' 2' is left over after 'local'"},
      {"local/2", "'/2' is left over"},
      {"spark:/host?", "'' in the query is not of the form key=value"},
      {"x?a", "'a' in the query is not of the form key=value"},
      {"x?=b", "'=b' in the query is not"},
      {"x://h?a=1&a=2", "'a' stands twice in the query"},
      {std::string("local\n\x01[2]"), "is left over", "'local\\x0a\\x01[2]'"},
      {std::string(1000, 'x') + "]", "is left over", "xxx...'"},
  };
  for (const Bad& row : rows) {
    SCOPED_TRACE(row.url);
    try {
      (void)parse_master_url(row.url);
      ADD_FAILURE() << "was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      EXPECT_EQ(e.code(), 2);
      EXPECT_NE(e.message().find(row.why), std::string::npos) << e.message();
      const std::string quoted = row.quoted != nullptr ? row.quoted : "'" + row.url + "'";
      EXPECT_NE(e.message().find("master URL "), std::string::npos) << e.message();
      EXPECT_NE(e.message().find(quoted), std::string::npos) << e.message();
      EXPECT_EQ(e.message().find('\n'), std::string::npos) << e.message();
      EXPECT_LT(e.message().size(), 700u);
    }
  }
}

TEST(MasterUrl, PluginGetsEveryPart) {
  const PluginMasterUrl url(parse_master_url("x[1]://h:1/p?k=v"));
  const tenon_master_url& raw = *url.raw();
  EXPECT_EQ(raw.struct_size, sizeof raw);
  EXPECT_EQ(plugin::view(raw.raw), "x[1]://h:1/p?k=v");
  EXPECT_EQ(plugin::view(raw.scheme), "x");
  EXPECT_EQ(plugin::view(raw.args), "1");
  EXPECT_EQ(plugin::view(raw.rest), "h:1/p?k=v");
  EXPECT_EQ(plugin::view(raw.authority), "h:1");
  EXPECT_EQ(plugin::view(raw.path), "/p");
  EXPECT_EQ(plugin::find(raw.query, "k"), "v");
  EXPECT_EQ(raw.query.count, 1u);
}

}  // namespace
}  // namespace tenon::host
