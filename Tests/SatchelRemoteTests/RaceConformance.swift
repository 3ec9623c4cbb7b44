import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

import SatchelRemote

@Suite("Every object store with concurrent writers")
struct RaceConformance {
  @Test("lets exactly one of many writers win each round", arguments: ConformingStore.allCases)
  func first(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let won = try Contest.rounds(40, stores: [one, other, one, other, one, other])
      #expect(won.flatMap { $0 }.sorted() == Array(0..<40))
      for (contestant, rounds) in won.enumerated() {
        for round in rounds {
          #expect(try one.get(ObjectKey("rounds/\(round)")).body == Array("\(contestant)".utf8))
        }
      }
    }
  }

  @Test("loses no conditional write that succeeded", arguments: ConformingStore.allCases)
  func counting(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let key = try ObjectKey("number")
      try one.put(key, Array("0".utf8))
      let failures = Locked<[String]>([])
      try Contest.inParallel(4) { index in
        do { try Contest.count(15, in: index % 2 == 0 ? one : other) } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(try one.get(key).body == Array("60".utf8))
    }
  }

  @Test(
    "returns only complete versions with their own metadata",
    arguments: ConformingStore.allCases)
  func wholeVersions(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let key = try ObjectKey("deep/er/object")
      @Sendable func write(_ number: Int, _ store: any ObjectStore) throws {
        let body = [UInt8](repeating: UInt8(number), count: 1_000_000 + number)
        try store.put(key, body, metadata: ObjectMetadata(["number": "\(number)"]))
      }
      try write(0, one)
      let isWriting = Locked(true)
      let (failures, reads) = (Locked<[String]>([]), Locked(0))
      try Contest.inParallel(3) { index in
        do {
          if index == 0 {
            defer { isWriting.withLock { $0 = false } }
            for number in 0..<Portion.count(150) { try write(number, one) }
          } else {
            repeat {
              let object = try other.get(key)
              reads.withLock { $0 += 1 }
              let number = Int(object.body.first ?? 255)
              let isWhole = object.body == [UInt8](repeating: UInt8(number), count: 1_000_000 + number)
              if !isWhole || object.metadata["number"] != "\(number)" {
                failures.withLock { $0.append("a mixture at \(number)") }
              }
            } while isWriting.withLock { $0 }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(reads.withLock { $0 } > 1)
    }
  }
}
