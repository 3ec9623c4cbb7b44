/* Queries of records: types, answers, searches, related records, and records that expire. */
#include "check.h"

static satchel_store *store;

static satchel_records *opened(const char *declaration, bool redeclare) {
    satchel_records *records = NULL;
    satchel_records_options options = SATCHEL_RECORDS_OPTIONS_INIT;
    options.redeclare = redeclare;
    must(satchel_records_open(store, text(declaration), &options, &records), declaration);
    return records;
}

static satchel_status put(satchel_records *records, const char *id, const char *document) {
    return satchel_records_put(records, text(id), text(document), SATCHEL_ANY_REVISION, NULL);
}

static void types(void) {
    satchel_records *prices = opened(
        "{\"name\":\"prices\",\"types\":{\"net\":\"decimal\",\"at\":\"time\"},"
        "\"indexes\":[{\"paths\":[\"kind\",\"-net\"],\"unique\":true},\"tags[*]\","
        "{\"path\":\"at\",\"where\":{\"kind\":1}},"
        "{\"path\":\"name\",\"type\":\"text\",\"fold\":[\"case\"],\"order\":\"unicode\"}]}",
        false);
    must(put(prices, "a", "{\"kind\":1,\"net\":\"9.50\",\"tags\":[\"x\",\"y\"],\"name\":\"ZEBRA\"}"), "a");
    must(put(prices, "b", "{\"kind\":1,\"net\":10,\"tags\":[\"x\"],\"name\":\"Äpfel\"}"), "b");
    CHECK(put(prices, "c", "{\"kind\":1,\"net\":\"9.5\"}") == SATCHEL_ECONSTRAINT, "the same decimal number");
    const char *queries[] = {
        "{\"where\":{\"kind\":1},\"order_by\":\"-net\",\"limit\":1,\"documents\":false}",
        "{\"where\":{\"net\":{\"gt\":\"9.5\"}},\"documents\":false}",
        "{\"where\":{\"name\":\"äpfel\"},\"documents\":false}",
        "{\"where\":{\"length(tags)\":1},\"documents\":false}",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        satchel_buffer found = SATCHEL_BUFFER_INIT;
        must(satchel_records_list(prices, text(queries[i]), &found), queries[i]);
        CHECK(strstr(found.data, "\"id\":\"b\"") != NULL && strstr(found.data, "\"id\":\"a\"") == NULL, "%s: %s",
              queries[i], found.data);
        satchel_buffer_free(&found);
    }
    const char *wrong[] = {
        "{\"name\":\"w\",\"types\":{\"a\":\"colour\"}}",
        "{\"name\":\"w\",\"types\":{\"a\":{\"type\":\"time\",\"fold\":\"case\"}}}",
        "{\"name\":\"w\",\"indexes\":[{\"paths\":[]}]}",
        "{\"name\":\"w\",\"indexes\":[{\"paths\":[\"a\",\"tags[*]\"]}]}",
        "{\"name\":\"w\",\"indexes\":[{\"path\":\"a\",\"paths\":[\"b\"]}]}",
        "{\"name\":\"w\",\"indexes\":[{\"path\":\"a\",\"where\":{\"@modified\":{\"gt\":1}}}]}",
        "{\"name\":\"w\",\"version\":3,\"migrations\":[[{\"remove\":{\"path\":\"a\"}}]]}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        satchel_records *refused = NULL;
        CHECK(satchel_records_open(store, text(wrong[i]), NULL, &refused) == SATCHEL_EINVALID && refused == NULL, "%s",
              wrong[i]);
    }
    satchel_records_free(prices);
}

static void answer(void) {
    satchel_records *sales = opened("{\"name\":\"sales\",\"indexes\":[\"kind\",{\"path\":\"n\",\"unique\":true}]}", false);
    const char *documents = "{\"a\":{\"n\":1,\"kind\":\"x\"},\"b\":{\"n\":2,\"kind\":\"y\"},\"c\":{\"n\":3,\"kind\":\"x\"}}";
    must(satchel_records_put_many(sales, text(documents), NULL), "putting");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_aggregate(sales, text("{\"group_by\":\"kind\",\"aggregates\":[{\"sum\":\"n\"}]}"), &found),
         "groups");
    CHECK(strcmp(found.data, "[{\"key\":[\"x\"],\"count\":2,\"values\":[4]},{\"key\":[\"y\"],\"count\":1,\"values\":[2]}]") == 0,
          "%s", found.data);
    satchel_buffer_free(&found);
    CHECK(satchel_records_aggregate(sales, text("{\"aggregates\":[{\"mean\":\"n\"}]}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "/aggregates/0") != NULL,
          "%s", satchel_error_message());
    must(satchel_records_explain(sales, text("{\"where\":{\"kind\":\"x\"}}"), &found), "explaining");
    CHECK(strstr(found.data, "finds 2 records by the index of \\\"kind\\\"") != NULL, "%s", found.data);
    satchel_buffer_free(&found);
    must(satchel_records_page(sales, text("{\"order_by\":\"-n\",\"limit\":3}"), &found), "the last page");
    CHECK(strstr(found.data, "\"cursor\":null") != NULL, "%s", found.data);
    satchel_buffer_free(&found);
    CHECK(satchel_records_page(sales, text("{\"after\":\"x\"}"), &found) == SATCHEL_EINVALID, "no cursor");

    CHECK(satchel_records_search(sales, text("{\"text\":\"a\"}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "no texts are searched") != NULL,
          "%s", satchel_error_message());
    CHECK(satchel_records_near(sales, text("{\"latitude\":0,\"longitude\":0,\"within\":1}"), &found) == SATCHEL_EINVALID,
          "no positions");

    int64_t count = 0, revision = 0;
    must(satchel_records_update_where(sales, text("{\"kind\":\"x\"}"), text("{\"kind\":\"z\"}"), &count), "updating");
    CHECK(count == 2, "%lld", (long long)count);
    CHECK(satchel_records_update_where(sales, text("[]"), text("{}"), NULL) == SATCHEL_EINVALID, "no condition");
    must(satchel_records_upsert(sales, text("n"), text("{\"n\":2}"), text(""), &revision, &found), "upserting");
    CHECK(strcmp(found.data, "b") == 0 && revision == 2, "%s, %lld", found.data, (long long)revision);
    satchel_buffer_free(&found);
    CHECK(satchel_records_upsert(sales, text("kind"), text("{}"), text(""), NULL, NULL) == SATCHEL_EINVALID, "not unique");
    must(satchel_records_delete_where(sales, text("{\"n\":{\"gte\":2}}"), &count), "deleting");
    CHECK(count == 2, "%lld", (long long)count);
    CHECK(satchel_records_delete_where(NULL, text(""), NULL) == SATCHEL_EINVALID, "no collection");
    satchel_records_free(sales);
}

static void search(void) {
    satchel_records *cafes = opened("{\"name\":\"cafes\",\"search\":[\"title\"],\"positions\":[\"at\"]}", false);
    const char *documents = "{\"a\":{\"title\":\"Caf\u00e9 Odeon\",\"at\":{\"lat\":47.5,\"lon\":8.5}},\"b\":{\"title\":\"Tea\"}}";
    must(satchel_records_put_many(cafes, text(documents), NULL), "putting");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_search(cafes, text("{\"text\":\"cafe ode\",\"where\":{\"at\":{\"exists\":true}}}"), &found), "searching");
    CHECK(strstr(found.data, "[{\"record\":{\"id\":\"a\"") == found.data &&
              strstr(found.data, "\"path\":\"title\",\"excerpt\":\"Caf\u00e9 Odeon\",\"highlights\":[[0,5],[6,11]]}]") != NULL,
          "%s", found.data);
    satchel_buffer_free(&found);
    must(satchel_records_near(cafes, text("{\"latitude\":47.5,\"longitude\":8.5,\"within\":10}"), &found), "nearby");
    CHECK(strstr(found.data, "\"distance\":0") != NULL && strstr(found.data, "\"id\":\"b\"") == NULL, "%s", found.data);
    satchel_buffer_free(&found);
    const char *invalid[] = {"{}", "[]", "{\"text\":1}", "{\"text\":\"a\",\"paths\":[\"at\"]}", "{\"text\":\"a\",\"limit\":-1}",
                             "{\"text\":\"a\",\"more\":1}"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK(satchel_records_search(cafes, text(invalid[i]), &found) == SATCHEL_EINVALID, "%s", invalid[i]);
    CHECK(satchel_records_near(cafes, text("{\"latitude\":91,\"longitude\":0,\"within\":1}"), &found) == SATCHEL_EINVALID, "no place");
    CHECK(satchel_records_near(cafes, text("{\"latitude\":1,\"longitude\":0}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "/within") != NULL,
          "%s", satchel_error_message());
    satchel_records_free(cafes);
}

/* Related records that a query includes. */
static void include(void) {
    satchel_records *makers = opened("{\"name\":\"makers\"}", false);
    satchel_records *goods = opened(
        "{\"name\":\"goods\",\"relations\":{\"maker\":{\"collection\":\"makers\"},"
        "\"sellers\":{\"collection\":\"makers\",\"on_delete\":\"nullify\",\"many\":true}}}",
        false);
    must(put(makers, "m1", "{\"name\":\"Lopes\"}"), "the maker");
    must(put(goods, "g1", "{\"maker\":\"m1\",\"sellers\":[\"m1\"]}"), "what it makes");
    must(put(goods, "g2", "{}"), "what has no maker");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_list(goods, text("{\"include\":[\"maker\",\"sellers\"]}"), &found), "listing");
    CHECK(strstr(found.data, "\"included\":{\"maker\":{\"id\":\"m1\",\"revision\":1,") != NULL &&
              strstr(found.data, "\"sellers\":[{\"id\":\"m1\",") != NULL &&
              strstr(found.data, "\"document\":{},\"included\":{\"maker\":null,\"sellers\":[]}}") != NULL,
          "%s", found.data);
    satchel_buffer_free(&found);
    CHECK(satchel_records_page(goods, text("{\"include\":[\"makers\"]}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "\"maker\", \"sellers\"") != NULL,
          "%s", satchel_error_message());
    satchel_records_free(goods);
    satchel_records_free(makers);
}

/* The time that a clock of the test shows. */
static int64_t now = 1800000000000;

static int64_t clock_of_test(void *context) {
    (void)context;
    return now;
}

static void expire(void) {
    satchel_store *aging = NULL, *usual = store;
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.clock = clock_of_test;
    must(satchel_store_open(":memory:", &options, &aging), "opening a store with a clock");
    store = aging;
    satchel_records *offers = opened("{\"name\":\"offers\",\"ttl\":\"end\"}", false);
    must(put(offers, "a", "{\"end\":\"2027-01-15T08:00:01Z\"}"), "an offer of a second");
    must(put(offers, "b", "{\"end\":null}"), "an offer without an end");
    CHECK(put(offers, "c", "{\"end\":\"soon\"}") == SATCHEL_EINVALID && strstr(satchel_error_message(), "/end") != NULL,
          "%s", satchel_error_message());
    int64_t count = 0;
    must(satchel_records_count(offers, text(""), &count), "counting");
    CHECK(count == 2, "%lld", (long long)count);
    now += 1000;
    must(satchel_records_count(offers, text(""), &count), "counting a second later");
    CHECK(count == 1, "%lld", (long long)count);
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    CHECK(satchel_records_get(offers, text("a"), &found) == SATCHEL_OK && found.data == NULL, "it has expired");
    must(satchel_store_collections(store, &found), "collections");
    CHECK(strstr(found.data, "\"synced\":false,\"ttl\":\"end\"") != NULL, "%s", found.data);
    satchel_buffer_free(&found);
    const char *wrong[] = {
        "{\"name\":\"w\",\"ttl\":0}", "{\"name\":\"w\",\"ttl\":-1}", "{\"name\":\"w\",\"ttl\":3155760001}",
        "{\"name\":\"w\",\"ttl\":true}", "{\"name\":\"w\",\"ttl\":\"\"}", "{\"name\":\"w\",\"ttl\":1,\"synced\":true}",
        "{\"name\":\"w\",\"relations\":{\"o\":{\"collection\":\"offers\"}}}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        satchel_records *refused = NULL;
        CHECK(satchel_records_open(store, text(wrong[i]), NULL, &refused) == SATCHEL_EINVALID && refused == NULL, "%s",
              wrong[i]);
    }
    satchel_records_free(offers);
    satchel_store_close(aging);
    store = usual;
}

int main(void) {
    must(satchel_store_open(":memory:", NULL, &store), "opening a store in memory");
    types();
    answer();
    search();
    include();
    expire();
    satchel_store_close(store);
    return close_checks();
}
