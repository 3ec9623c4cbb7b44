import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelCore

@Suite("Texts of the search in any form")
struct SearchTextTests {
  private func content(_ text: String) -> JSONValue {
    ["a": ["text": .string(text), "_storage": ["entity_id": "g:1", "scope": "country"]]]
  }

  @Test(
    "composed and decomposed forms find each other",
    arguments: [
      ("서울특별시 강남구", "서울"), ("서울특별시 강남구", "강남구"), ("Việt Nam", "viet"), ("がっこう", "がっ"), ("Ελλάδα", "ελλαδα"),
      ("각 나라", "각"),
    ])
  func normalForms(text: String, query: String) throws {
    for form in [text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping] {
      let fixture = try CatalogueFixture()
      try fixture.catalogue.persist(["section": "g", "content": content(form)], at: place("kr"))
      for asked in [query.precomposedStringWithCanonicalMapping, query.decomposedStringWithCanonicalMapping] {
        #expect(try fixture.catalogue.search(asked).map(\.entityID) == ["g:1"], "\(form) \(asked)")
      }
    }
  }

  @Test(
    "letters with strokes, apostrophes and invisible characters are as people type them",
    arguments: [
      ("Łódź", "lodz"), ("Kadıköy", "kadikoy"), ("Þórsmörk ꝉong", "long"), ("Xi’an", "xi an"),
      ("Xiʼan", "xi'an"),
      ("Hal\u{AD}tung", "haltung"), ("कर्\u{200D}नाटक", "कर्नाटक"), ("葛\u{E0100}城", "葛城"),
    ])
  func letters(text: String, query: String) throws {
    let fixture = try CatalogueFixture()
    try fixture.catalogue.persist(["section": "g", "content": content(text)], at: place("kr"))
    #expect(try fixture.catalogue.search(query).count == 1)
  }

  @Test(
    "an excerpt is cut between grapheme clusters",
    arguments: ["🇵🇹", "👨‍👩‍👧", "👍🏽", "e\u{323}\u{302}", "각", "नि", "a" + String(repeating: "\u{301}", count: 700)])
  func clusters(cluster: String) throws {
    let fixture = try CatalogueFixture()
    let many = String(repeating: cluster, count: 300)
    try fixture.catalogue.persist(
      ["section": "g", "content": content("\(many) needle \(many)")], at: place("pt"))
    let hit = try #require(try fixture.catalogue.search("needle").first)
    #expect(hit.excerpt.contains("needle"))
    let rest = hit.excerpt.replacing("…", with: "").replacing(" ", with: "").replacing("needle", with: "")
    #expect(rest.replacing(cluster, with: "").isEmpty, "\(hit.excerpt)")
    #expect(hit.excerpt.unicodeScalars.count < 2_200)
  }

  @Test("an excerpt ends at words, and has all of a short text")
  func words() {
    let long = (0..<100).map { "word\($0)" }.joined(separator: " ")
    let start = long.unicodeScalars.count / 2
    let excerpt = Excerpt.text(long, around: start)
    #expect(excerpt.hasPrefix("…word") && excerpt.hasSuffix("…") && excerpt.count <= 122)
    #expect(long.contains(excerpt.dropFirst().dropLast()))
    #expect(Excerpt.text("short text", around: 6) == "short text")
    #expect(Excerpt.text("", around: 5) == "" && Excerpt.text("x", around: 5) == "x")
  }
}
