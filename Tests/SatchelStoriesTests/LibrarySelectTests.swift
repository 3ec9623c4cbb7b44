import Foundation
import Satchel
import Testing

@Suite("A library finds stories")
struct LibrarySelectTests {
  private static let titles = [
    "urashima-taro", "frau-holle", "thor-the-bride", "anansi-and-the-sky-stories",
    "the-fisherman-and-the-jinni",
  ]

  @Test(
    "Search by words and prefixes, ignoring case and diacritics",
    arguments: [
      ("urashima taro", ["urashima-taro"]), ("URASHIMA TARŌ", ["urashima-taro"]),
      ("taro urash", ["urashima-taro"]),
      ("mjol", ["thor-the-bride"]), ("Mjölnir", ["thor-the-bride"]), ("ryugu-jo", ["urashima-taro"]),
      ("\"frau\" \"holle\"", ["frau-holle"]), ("frau AND holle", ["frau-holle"]), ("holle*", ["frau-holle"]),
      ("title:frau", []), ("frau NOT holle", []), ("NEAR(frau holle)", []), ("^frau", ["frau-holle"]),
      ("'; DROP TABLE story_file; --", []), ("\"", all), ("", all), ("  \t", all), ("* () : ^ - + \" '", all),
      ("AND OR *", []), ("\u{0}", all), ("frau\u{0}holle", ["frau-holle"]), ("olle", []), ("zzz", []),
      ("fisherman sea", ["the-fisherman-and-the-jinni"]), ("{frau}", ["frau-holle"]), ("😀", all),
    ])
  func search(text: String, found: [String]) throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    defer { withExtendedLifetime(fixture) {} }
    var query = StoryQuery()
    query.search = text
    #expect(Set(try library.select(query).map(\.id)) == Set(found))
    query.sort = .title
    #expect(Set(try library.select(query).map(\.id)) == Set(found))
  }

  private static var all: [String] { titles }

  @Test(
    "Words are found in any script, and inside runs of characters without spaces",
    arguments: [
      ("GRÖSSE", ["de"]), ("größe", ["de"]), ("GROSSE", ["de"]), ("grosse", ["de"]), ("ςοφια", ["el"]),
      ("ΣΟΦΊΑ", ["el"]), ("浦島", ["ja"]), ("太郎", ["ja"]), ("島太", ["ja"]), ("郎", ["ja"]), ("竜宮", ["ja"]),
      ("島郎", []), ("小籠包", ["zh"]), ("籠包", ["zh"]), ("的小籠", ["zh"]), ("包子", []), ("ช้าง", ["th"]),
      ("เล็ก", ["th"]), ("浦島 乙姫", ["ja"]), ("浦島 籠包", []), ("ｔａｒｏ", ["ja"]), ("тигр", ["ru"]),
    ])
  func scripts(text: String, found: [String]) throws {
    let fixture = try LibraryFixture()
    for (id, title, synopsis) in [
      ("de", "Die Größe der Welt", "Ein Märchen."), ("el", "Η Σοφία", "Παραμύθι."),
      ("ja", "浦島太郎", "竜宮城の乙姫とTaro。"), ("zh", "奶奶的小籠包", "一家人。"), ("th", "ช้างตัวเล็ก", "นิทาน"),
      ("ru", "Тигр", "Сказка"),
    ] {
      try fixture.put("\(id).json", LibraryFixture.story(id, title: title, synopsis: synopsis))
    }
    let library = try fixture.library()
    defer { withExtendedLifetime(fixture) {} }
    var query = StoryQuery()
    query.search = text
    #expect(try library.select(query).map(\.id) == found)
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test("A search has at most 64 different words")
  func longSearch() throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    defer { withExtendedLifetime(fixture) {} }
    var query = StoryQuery()
    query.search = (0..<64).map { "word\($0)" }.joined(separator: " ")
    #expect(try library.select(query).isEmpty)
    query.search = (0..<10_000).map { "word\($0)" }.joined(separator: " ")
    let error = failure { try library.select(query) }
    #expect(error?.code == .invalid && error?.message.contains("64 words") == true)
    query.search = String(repeating: "frau ", count: 10_000)
    #expect(try library.select(query).map(\.id) == ["frau-holle"])
  }

  @Test("A word in the title ranks higher than one in the synopsis")
  func relevance() throws {
    let fixture = try LibraryFixture()
    try fixture.put(
      "a.json", LibraryFixture.story("a", title: "Water", synopsis: "A wolf and a wolf and a wolf."))
    try fixture.put(
      "b.json", LibraryFixture.story("b", title: "The Wolf of the Woods", synopsis: "Trees, and more."))
    try fixture.put("c.json", LibraryFixture.story("c", title: "Fire", synopsis: "No such animal."))
    var query = StoryQuery()
    query.search = "wolf"
    #expect(try fixture.library().select(query).map(\.id) == ["b", "a"])
    query.isDescending = true
    #expect(try fixture.library().select(query).map(\.id) == ["a", "b"])
  }

  @Test("A search finds the new content of a changed file, and not the old one")
  func changed() throws {
    let fixture = try LibraryFixture()
    try fixture.put("a.json", LibraryFixture.story("a", title: "Wolf"))
    let library = try fixture.library()
    func found(_ text: String) throws -> Int {
      var query = StoryQuery()
      query.search = text
      return try library.select(query).count
    }
    #expect(try found("wolf") == 1 && found("lamb") == 0)
    try fixture.put("a.json", LibraryFixture.story("a", title: "Lamb"))
    try library.refresh()
    #expect(try found("wolf") == 0 && found("lamb") == 1)
    try fixture.remove("a.json")
    try library.refresh()
    #expect(try found("lamb") == 0)
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test(
    "Filters",
    arguments: [
      (#"{"tag":"sea"}"#, ["b"]), (#"{"tags":["sea","magic"]}"#, ["b"]), (#"{"tags":["sea","none"]}"#, []),
      (#"{"tag":"magic","tags":[]}"#, ["a", "b"]), (#"{"culture":"Norse"}"#, ["c"]),
      (#"{"culture":"norse"}"#, []),
      (#"{"age_range":"5-8"}"#, ["a"]), (#"{"age":8}"#, ["a", "b"]), (#"{"age":80}"#, ["b"]),
      (#"{"age":3}"#, []),
      (#"{"purchased":true}"#, ["c"]), (#"{"purchased":false}"#, ["a", "b", "d"]),
      (#"{"limit":2}"#, ["a", "b"]), (#"{"limit":2,"offset":3}"#, ["d"]), (#"{"limit":0}"#, []),
      (#"{"offset":99}"#, []),
      (#"{"tag":null,"limit":null,"offset":null,"search":null}"#, ["a", "b", "c", "d"]),
      (#"{}"#, ["a", "b", "c", "d"]), (#"{"limit":9223372036854775807}"#, ["a", "b", "c", "d"]),
    ])
  func filters(json: String, found: [String]) throws {
    let fixture = try LibraryFixture()
    let stories = [
      LibraryFixture.story("a", age: "5-8", tags: ["magic"]),
      LibraryFixture.story("b", age: "7+", tags: ["magic", "sea"]),
      LibraryFixture.story("c", culture: "Norse", age: "old", purchased: true),
      LibraryFixture.story("d", age: "12-10", tags: []),
    ]
    for (number, story) in stories.enumerated() { try fixture.put("\(number).json", story) }
    let library = try fixture.library()
    let query = try StoryQuery(json: try JSONValue(parsing: json))
    #expect(try library.select(query).map(\.id) == found)
    #expect(try library.tags() == ["magic", "sea", "tale"] && library.cultures() == ["None", "Norse"])
    #expect(try library.ageRanges() == ["5-8", "7+", "12-10", "old"])
  }

  @Test(
    "An invalid query is rejected with the key",
    arguments: [
      (#"[]"#, "an object"), (#"{"searh":"x"}"#, "searh"), (#"{"search":1}"#, "search"),
      (#"{"tags":"x"}"#, "tags"),
      (#"{"tags":[1]}"#, "tags"), (#"{"tag":["x"]}"#, "tag"), (#"{"age":"8"}"#, "age"),
      (#"{"age":1.5}"#, "age"),
      (#"{"age":-1}"#, "age"), (#"{"purchased":"yes"}"#, "purchased"), (#"{"sort":"author"}"#, "sort"),
      (#"{"descending":1}"#, "descending"), (#"{"limit":-1}"#, "limit"), (#"{"offset":-1}"#, "offset"),
      (#"{"offset":true}"#, "offset"), (#"{"culture":[]}"#, "culture"), (#"{"age_range":5}"#, "age_range"),
      (#"{"unknown":null}"#, "unknown"),
    ])
  func badQuery(json: String, key: String) throws {
    let error = try #require(failure { try StoryQuery(json: try JSONValue(parsing: json)) })
    #expect(error.code == .invalid && error.message.contains(key))
  }

  @Test(
    "Order",
    arguments: [
      ("title", false, ["a", "b", "c", "d"]), ("title", true, ["d", "c", "b", "a"]),
      ("reading_time", false, ["c", "a", "b", "d"]), ("reading_time", true, ["d", "a", "b", "c"]),
      ("path_count", false, ["a", "b", "d", "c"]), ("path_count", true, ["c", "d", "a", "b"]),
    ])
  func order(sort: String, isDescending: Bool, expected: [String]) throws {
    let fixture = try LibraryFixture()
    // d has two paths: through its choice, and by ending; c has a cycle.
    let loop = LibraryFixture.story("c", title: "éclair", minutes: 1)
      .replacingOccurrences(
        of: "\"choices\":[]", with: #""choices":[{"id":"x","text":"x","nextSegmentId":"s1"}]"#)
    let two = LibraryFixture.story("d", title: "Zebra", minutes: 9)
      .replacingOccurrences(of: "\"isEnding\":false", with: "\"isEnding\":true")
    try fixture.put("1.json", two)
    try fixture.put("2.json", loop)
    try fixture.put("3.json", LibraryFixture.story("b", title: "Äpfel", minutes: 2))
    try fixture.put("4.json", LibraryFixture.story("a", title: "apfel", minutes: 2))
    let library = try fixture.library()
    #expect(try library.summary("c").paths == .unbounded && library.summary("d").paths.saturated == 2)
    let query = try StoryQuery(json: ["sort": .string(sort), "descending": .bool(isDescending)])
    #expect(try library.select(query).map(\.id) == expected)
  }

  @Test("The JSON text of a query is that of its stories")
  func text() throws {
    let fixture = try LibraryFixture(examples: true)
    let spoken = #"{"language":"de","price":{"eur":[3,null,"drei \"€\""]},"#
    try fixture.put("a.json", spoken + LibraryFixture.story("a", title: #"\"A\"\n"#).dropFirst())
    try fixture.put("b.json", "{\"id\":\"b\"}")
    let library = try fixture.library()
    var texts: [JSONValue] = []
    try library.each(StoryQuery()) { texts.append(try JSONValue(parsing: $0)) }
    #expect(try texts == library.select().map(\.json) && texts.count == 7)
    #expect(
      try library.summary("a").json == texts.first { $0["id"] == "a" } && library.summary("b").title == nil)
  }

  @Test("Reading times and counts at the ends of their range")
  func extremes() throws {
    let fixture = try LibraryFixture()
    try fixture.put("a.json", LibraryFixture.story("a", minutes: .max))
    try fixture.put("b.json", LibraryFixture.story("b", minutes: .min))
    let text = LibraryFixture.story("c").replacingOccurrences(of: "\"estimatedReadingMinutes\":1,", with: "")
    try fixture.put("c.json", text)
    var query = StoryQuery()
    query.sort = .readingTime
    #expect(try fixture.library().select(query).map(\.id) == ["b", "a", "c"])
  }
}
