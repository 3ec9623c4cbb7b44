import Testing

import SatchelRemote

@Suite("Every object store's listing")
struct ListingConformance {
  static let keys = [
    "a b.txt", "a+b=c.txt", "a%2Fb", "a%2fb", "q'(1)!*~.json", "semi;colon@&$,:?#[]", "ünï/日本.txt",
    "dir/sub/x",
    "e\u{301}", "é", "dir/sub-x", "dir-x", "dir.x", "dir/sub/w/y.z", "UPPER", "upper", "😀/😀",
    "...", "dots/...x", "-", "~",
  ]

  @Test(
    "distinguishes keys of all kinds, and lists them in byte order",
    arguments: ConformingStore.allCases)
  func keys(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      for text in Self.keys { try one.put(ObjectKey(text), Array(text.utf8)) }
      for text in Self.keys { #expect(try other.get(ObjectKey(text)).body == Array(text.utf8)) }
      let entries = try other.list()
      #expect(try entries.map(\.key) == Self.keys.map { try ObjectKey($0) }.sorted())
      #expect(entries.allSatisfy { $0.size == $0.key.text.utf8.count })
    }
  }

  @Test(
    "has the same ETags as reads, also after another write", arguments: ConformingStore.allCases)
  func tags(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      for round in 0..<3 {
        for text in Self.keys { try one.put(ObjectKey(text), Array("\(text) \(round)".utf8)) }
        for entry in try other.list() {
          // Servers do not guarantee it.
          if kind == .s3, entry.etag == nil { continue }
          #expect(try entry.etag == one.get(entry.key).etag, "\(entry.key) in round \(round)")
        }
      }
    }
  }

  @Test("has the keys with the prefix, which may end anywhere", arguments: ConformingStore.allCases)
  func prefixes(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      for text in Self.keys { try one.put(ObjectKey(text), []) }
      for prefix in [
        "", "d", "dir", "dir/", "dir/s", "dir/sub/", "a%", "ü", "ünï/日", "nothing", "UPPER", "UPPER/",
      ] {
        let wanted = Self.keys.filter { $0.utf8.starts(with: prefix.utf8) }
        let got = try one.list(ObjectPrefix(prefix)).map(\.key)
        #expect(try got == wanted.map { try ObjectKey($0) }.sorted(), "\(prefix)")
      }
    }
  }

  @Test(
    "has pages of any size, with each key once", arguments: ConformingStore.allCases,
    [1, 2, 3, 7, 20, 21, 22])
  func pages(kind: ConformingStore, limit: Int) throws {
    try kind.withStores { one, _ in
      for text in Self.keys { try one.put(ObjectKey(text), []) }
      var (keys, sizes): ([ObjectKey], [Int]) = ([], [])
      var continuation: ObjectPage.Continuation?
      repeat {
        let page = try one.list(.all, from: continuation, limit: limit, cancellation: .never)
        keys += page.entries.map(\.key)
        sizes.append(page.entries.count)
        continuation = page.next
      } while continuation != nil && sizes.count < 100
      let sorted = try Self.keys.map { try ObjectKey($0) }.sorted()
      #expect(keys == sorted || (!kind.sortsAcrossPages && keys.sorted() == sorted))
      #expect(sizes.dropLast().allSatisfy { $0 == limit })
      #expect(sizes.allSatisfy { $0 > 0 })
    }
  }

  @Test("continues after a key that was deleted between two pages", arguments: ConformingStore.allCases)
  func deletedBetween(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      for number in 0..<6 { try one.put(ObjectKey("k/\(number)"), []) }
      let first = try one.list(.all, from: nil, limit: 3, cancellation: .never)
      try other.delete(ObjectKey("k/2"))
      try other.delete(ObjectKey("k/3"))
      let second = try one.list(.all, from: first.next, limit: 3, cancellation: .never)
      #expect(second.entries.map(\.key.text) == ["k/4", "k/5"])
      #expect(second.next == nil)
    }
  }

  @Test(
    "is empty for an empty store, and after all objects were deleted", arguments: ConformingStore.allCases)
  func empty(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      #expect(try one.list().isEmpty)
      for text in Self.keys { try one.put(ObjectKey(text), []) }
      for text in Self.keys { try one.delete(ObjectKey(text)) }
      #expect(try one.list(.all, from: nil, limit: 10, cancellation: .never) == ObjectPage(entries: []))
    }
  }
}
