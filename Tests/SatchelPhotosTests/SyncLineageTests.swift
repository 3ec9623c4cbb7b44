import Testing

@testable import SatchelPhotos

/// What an object was built on.
struct SyncLineageTests {
  static let contents = (0..<40).map { Shard.checksum(Array("\($0)".utf8)) }

  /// One lineage after each of some contents.
  private func lineages(_ numbers: [Int]) -> [SyncLineage] {
    var (all, before) = ([SyncLineage(nil)], Shard.emptyChecksum)
    for number in numbers {
      all.append(
        (all.last ?? SyncLineage(nil)).followed(by: Self.contents[number], before: before, writer: "w"))
      before = Self.contents[number]
    }
    return Array(all.dropFirst())
  }

  @Test func `a version is part of all that is built on it, and of nothing else`() {
    let all = lineages([0, 1, 2, 3])
    for (number, lineage) in all.enumerated() {
      for (other, earlier) in all.enumerated() { #expect(lineage.contains(earlier) == (other <= number)) }
    }
    let branch = all[1].followed(by: Self.contents[9], before: Self.contents[1], writer: "w")
    #expect(branch.contains(all[1]) && !branch.contains(all[2]) && !all[3].contains(branch))
    #expect(!all[3].contains(SyncLineage(nil)))
    // Somebody else's upload of the same.
    #expect(
      !all[3].contains(all[1].followed(by: Self.contents[2], before: Self.contents[1], writer: "other")))
  }

  @Test func `a content that returns is another version`() {
    let all = lineages([0, 1, 0, 1])
    #expect(all[3].contains(all[1]))
    #expect(!all[1].contains(all[3]) && !all[2].contains(all[3]))
    // An upload of the same content on top of the first version, which never happened.
    #expect(!all[0].contains(all[2]))
  }

  @Test func `it survives its text, and stays small`() throws {
    let all = lineages(Array(0..<40))
    #expect(SyncLineage(all[39].text) == all[39])
    #expect(all[39].text.utf8.count < 300)
    #expect(all[39].contains(all[24]))
    #expect(!all[39].contains(all[23]))
  }

  @Test(arguments: [
    "", "x", ".", "....", String(repeating: "0", count: 15), String(repeating: "a.", count: 5_000),
  ])
  func `of a text that is none nothing is taken`(_ text: String) {
    #expect(SyncLineage(text) == SyncLineage(nil))
  }
}
