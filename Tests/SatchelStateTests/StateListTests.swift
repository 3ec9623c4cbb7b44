import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelState

@Suite("Lists of state")
struct StateListTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  /// The items as they are stored.
  private func content(_ list: StateList) throws -> StateContent {
    .list(
      try list.items().map {
        StateContent.Item(value: $0.value, identity: try StateName(identityOf: $0.value), time: $0.time)
      })
  }

  private func values(_ list: StateList) throws -> [JSONValue] { try list.items().map(\.value) }

  @Test("the newest item is first, and the list keeps at most the limit", arguments: [false, true])
  func limit(isSavedEachTime: Bool) throws {
    let store = try fixture.open()
    let list = try store.state.list("history", limit: 3)
    for number in 1...5 {
      try list.push(.int(Int64(number)))
      if isSavedEachTime { try store.state.flush() }
    }
    #expect(try values(list) == [5, 4, 3])
    try store.state.flush()
    #expect(try values(list) == [5, 4, 3])
    #expect(try store.stored(.list, "history")?.content == .plain(content(list)))
    // With a reader's smaller limit fewer items are returned, and none is removed.
    #expect(try values(store.state.list("history", limit: 2)) == [5, 4])
    #expect(try values(store.state.list("history")) == [5, 4, 3])
  }

  @Test(
    "a unique list moves an existing item to the front, whatever the order of its keys",
    arguments: [false, true])
  func unique(isSavedEachTime: Bool) throws {
    let store = try fixture.open()
    let list = try store.state.list("history", limit: 10, isUnique: true)
    let items: [JSONValue] = [["a": 1, "b": 2], "x", 1, 1.0, ["b": 2, "a": 1], 1]
    for item in items {
      try list.push(item)
      if isSavedEachTime { try store.state.flush() }
    }
    // 1 and 1.0 are different values.
    let expected: [JSONValue] = [1, ["a": 1, "b": 2], 1.0, "x"]
    #expect(try values(list) == expected)
    try store.state.flush()
    #expect(try values(list) == expected)
    #expect(try values(fixture.open().state.list("history")) == expected)
  }

  @Test("items with given times are in the order of time, saved or not", arguments: 0..<40)
  func inserted(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (isUnique, limit) = (seed.isMultiple(of: 2), seed.isMultiple(of: 3) ? 5 : nil)
    let store = try fixture.open()
    let list = try store.state.list("history", limit: limit, isUnique: isUnique)
    var expected: [StateList.Item] = []
    for _ in 0..<30 {
      let (value, time) = (JSONValue.int(Int64(random.below(6))), Int64(random.below(20)))
      try list.insert(value, at: time)
      if random.chance(50) { try store.state.flush() }
      if isUnique, expected.contains(where: { $0.value == value && $0.time >= time }) { continue }
      if isUnique { expected.removeAll { $0.value == value } }
      expected.insert(
        StateList.Item(value: value, time: time),
        at: expected.firstIndex { $0.time <= time } ?? expected.endIndex)
      expected = Array(expected.prefix(limit ?? 100))
      #expect(try list.items() == expected)
    }
    try list.push("now")
    #expect(try list.items().first?.value == "now")
    try store.database.close()
    let later = try fixture.open()
    let kept = try later.state.list("history").items().dropFirst()
    #expect(Array(kept) == Array(expected.prefix((limit ?? 100) - 1)))
    #expect(try StateStore.check(later.database).isEmpty)
  }

  @Test("an invalid time is rejected") func invalidTime() throws {
    let list = try fixture.open().state.list("history")
    for time in [-1, .min, .max] as [Int64] {
      #expect(throws: SatchelError.self) { try list.insert("x", at: time) }
    }
    #expect(try list.items().isEmpty)
  }

  @Test("items older than the maximum age expire, and do not reappear when the clock is set back")
  func age() throws {
    let store = try fixture.open()
    let list = try store.state.list("seen", maxAge: 1000)
    try list.push("old")
    fixture.pass(milliseconds: 600)
    try list.push("new")
    #expect(try values(list) == ["new", "old"])
    try store.state.flush()
    fixture.pass(milliseconds: 400)
    #expect(try values(list) == ["new", "old"])
    fixture.pass(milliseconds: 1)
    #expect(try values(list) == ["new"])
    try store.database.close()
    fixture.pass(milliseconds: -3_600_000)
    let later = try fixture.open()
    let again = try later.state.list("seen", maxAge: 1000)
    #expect(try values(again) == ["new"])
    try again.push("newest")
    #expect(try values(again) == ["newest", "new"])
    try later.state.flush()
    #expect(try values(again) == ["newest", "new"])
    // The push deleted the expired items from the file.
    #expect(try later.stored(.list, "seen")?.content == .plain(content(again)))
    let times = try again.items().map(\.time)
    #expect(times == times.sorted(by: >))
  }

  @Test(
    "removing deletes every equal item, clearing deletes all, and operations apply in order",
    arguments: [false, true])
  func removing(isSavedEachTime: Bool) throws {
    let store = try fixture.open()
    let list = try store.state.list("l", limit: 3)
    func then(_ step: () throws -> Void) throws {
      try step()
      if isSavedEachTime { try store.state.flush() }
    }
    for value in ["b", "a", "b"] { try then { try list.push(.string(value)) } }
    try then { try list.remove("b") }
    try then { try list.push("c") }
    #expect(try values(list) == ["c", "a"])
    try then { try list.clear() }
    try then { try list.push("d") }
    try then { try list.remove("nothing") }
    #expect(try values(list) == ["d"])
    try store.state.flush()
    #expect(try values(list) == ["d"])
  }

  @Test("two handles both see the pushes of both")
  func twoHandles() throws {
    let (first, second) = (try fixture.open(), try fixture.open())
    let (one, two) = (try first.state.list("l", limit: 4), try second.state.list("l", limit: 4))
    for number in 1...3 {
      try one.push(.string("one \(number)"))
      try two.push(.string("two \(number)"))
    }
    try first.state.flush()
    #expect(try values(two) == ["two 3", "two 2", "two 1", "one 3"])
    try second.state.flush()
    #expect(try values(one) == ["two 3", "two 2", "two 1", "one 3"])
    #expect(try values(two) == (try values(one)))
  }

  static let badBounds: [(Int?, Int64?)] = [(0, nil), (-1, nil), (nil, 0), (nil, -5), (nil, .max)]

  @Test("bounds that admit no item are rejected", arguments: badBounds)
  func refused(limit: Int?, age: Int64?) throws {
    let state = try fixture.open().state
    #expect(try stateCode { _ = try state.list("l", limit: limit, maxAge: age) } == .invalid)
  }
}
