import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Rules for what a scan leaves out")
struct ScanRulesTests {
  private func matches(_ pattern: String, _ name: String) -> Bool {
    Glob(Array(pattern.utf8)[...]).matches(Array(name.utf8))
  }

  @Test(
    "Patterns of names",
    arguments: [
      ("*.jpg", "a.jpg", true), ("*.jpg", ".jpg", true), ("*.jpg", "a.jpg.bak", false),
      ("a*b*c", "aXbYbZc", true),
      ("a*b*c", "aXbYbZ", false), ("?.jpg", "é.jpg", true), ("?.jpg", "ab.jpg", false), ("*", "", true),
      ("", "", true), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[!a-c]x", "dx", true),
      ("[]]x", "]x", true), ("[ab", "[ab", true), ("\\*", "*", true), ("\\*", "a", false),
      ("a[z-a]", "am", true),
      ("**", "anything", true), ("a?", "a", false),
    ])
  func names(pattern: String, name: String, isMatch: Bool) {
    #expect(matches(pattern, name) == isMatch)
  }

  @Test("A pattern of many stars takes no longer than its length times that of the name")
  func stars() {
    let pattern = String(repeating: "*a", count: 5_000) + "b"
    #expect(!matches(pattern, String(repeating: "a", count: 10_000)))
  }

  private func excludes(_ rules: String, _ path: String, base: Int = 0) -> Bool? {
    var all = ScanRules()
    all.add(Array(rules.utf8), base: base)
    let isDirectory = path.hasSuffix("/")
    let path = Array(path.utf8.dropLast(isDirectory ? 1 : 0))
    let start = (path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1
    return all.excludes(Array(path[start...]), in: Array(path[..<start]), isDirectory: isDirectory)
  }

  @Test("Patterns with directories, of directories, and exceptions")
  func paths() {
    #expect(excludes("*.png", "a/b/c.png") == true)
    #expect(excludes("a/*.png", "a/c.png") == true && excludes("a/*.png", "a/b/c.png") == nil)
    #expect(excludes("/c.png", "c.png") == true && excludes("/c.png", "a/c.png") == nil)
    #expect(excludes("a/**/c.png", "a/c.png") == true && excludes("a/**/c.png", "a/x/y/c.png") == true)
    #expect(excludes("**/x/c.png", "a/x/c.png") == true && excludes("a/**", "a/x/y") == true)
    #expect(excludes("old/", "a/old/") == true && excludes("old/", "a/old") == nil)
    #expect(excludes("*.jpg\n!keep*", "keep1.jpg") == false && excludes("!keep*\n*.jpg", "keep1.jpg") == true)
    #expect(excludes("# *.jpg\n\n  \n", "a.jpg") == nil && excludes("\\#a", "#a") == true)
    #expect(excludes("a.jpg  \r\nb.jpg", "a.jpg") == true && excludes("a.jpg\r\nb.jpg", "b.jpg") == true)
    // Relative to the directory of the file.
    #expect(excludes("x/c.png", "a/x/c.png", base: 2) == true && excludes("/x", "a/x", base: 2) == true)
  }

  @Test("Folders of systems in any case")
  func system() {
    for name in ["@eaDir", "#recycle", "$RECYCLE.BIN", "My.photoslibrary", "Previews.LRDATA", "lost+found"] {
      #expect(ScanRules.isOfSystem(Array(name.utf8)))
    }
    for name in ["eaDir", "recycle", "photoslibrary", "2024"] {
      #expect(!ScanRules.isOfSystem(Array(name.utf8)))
    }
  }

  @Test("Random rules and paths never fail, and an exception at the end wins")
  func random() {
    var random = SeededRandom(seed: 11)
    let alphabet = Array("ab*?[]!/\\-^#. \n\u{e9}".utf8)
    for _ in 0..<2_000 {
      let lines = (0..<random.below(40)).map { _ in random.pick(alphabet) }
      var rules = ScanRules()
      rules.add(lines, base: random.below(4))
      let name = (0...random.below(8)).map { _ in random.pick(alphabet.filter { $0 != UInt8(ascii: "/") }) }
      _ = rules.excludes(name, in: Array("a/b/".utf8), isDirectory: random.once(in: 2))
      rules.add(Array("*\n!*".utf8), base: 0)
      #expect(rules.excludes(name, in: Array("a/b/".utf8), isDirectory: false) == false)
    }
  }
}
