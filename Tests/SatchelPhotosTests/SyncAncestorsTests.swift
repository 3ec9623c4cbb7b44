import Testing

@testable import SatchelPhotos

/// The ancestors of an object.
struct SyncAncestorsTests {
  static let contents = (0..<40).map { Shard.checksum(Array("\($0)".utf8)) }

  /// The ancestors after each of some contents.
  private func chains(_ numbers: [Int]) -> [SyncAncestors] {
    var (all, before) = ([SyncAncestors(nil)], Shard.emptyChecksum)
    for number in numbers {
      all.append(
        (all.last ?? SyncAncestors(nil)).followed(by: Self.contents[number], before: before, writer: "w"))
      before = Self.contents[number]
    }
    return Array(all.dropFirst())
  }

  @Test("a version is an ancestor of exactly the versions that are built on it") func versionAncestorAll() {
    let all = chains([0, 1, 2, 3])
    for (number, ancestors) in all.enumerated() {
      for (other, earlier) in all.enumerated() { #expect(ancestors.contains(earlier) == (other <= number)) }
    }
    let branch = all[1].followed(by: Self.contents[9], before: Self.contents[1], writer: "w")
    #expect(branch.contains(all[1]) && !branch.contains(all[2]) && !all[3].contains(branch))
    #expect(!all[3].contains(SyncAncestors(nil)))
    // An upload of the same content by another device.
    #expect(
      !all[3].contains(all[1].followed(by: Self.contents[2], before: Self.contents[1], writer: "other")))
  }

  @Test("content that recurs is a new version") func contentRecursAnother() {
    let all = chains([0, 1, 0, 1])
    #expect(all[3].contains(all[1]))
    #expect(!all[1].contains(all[3]) && !all[2].contains(all[3]))
    // An upload of the same content on top of the first version, which never happened.
    #expect(!all[0].contains(all[2]))
  }

  @Test("ancestors survive their encoding, and stay short") func ancestorsSurviveTheir() throws {
    let all = chains(Array(0..<40))
    #expect(SyncAncestors(all[39].text) == all[39])
    #expect(all[39].text.utf8.count < 300)
    #expect(all[39].contains(all[24]))
    #expect(!all[39].contains(all[23]))
  }

  @Test(
    "malformed ancestors are ignored",
    arguments: [
      "", "x", ".", "....", String(repeating: "0", count: 15), String(repeating: "a.", count: 5_000),
    ])
  func malformedAncestorsIgnored(_ text: String) {
    #expect(SyncAncestors(text) == SyncAncestors(nil))
  }
}
