import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelState

@Suite("Sets and scores of state")
struct StateSetTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  @Test(
    "a set holds each value once, in the order of the JSON texts, saved or not", arguments: [false, true])
  func set(isSavedEachTime: Bool) throws {
    let store = try fixture.open()
    let set = try store.state.set(named: "favourites")
    var isNew: [Bool] = []
    let values: [JSONValue] = ["b", 2, "a", 10, ["x": 1, "y": 2], ["y": 2, "x": 1], "b", 2.0, .null, true]
    for value in values {
      isNew.append(try set.add(value))
      if isSavedEachTime { try store.state.flush() }
    }
    #expect(isNew == [true, true, true, true, true, false, false, true, true, true])
    let expected: [JSONValue] = ["a", "b", 10, 2, 2.0, .null, true, ["x": 1, "y": 2]]
    #expect(try set.values() == expected)
    try store.state.flush()
    #expect(try set.values() == expected)
    #expect(try set.contains(["y": 2, "x": 1]))
    #expect(try set.remove(["y": 2, "x": 1]))
    #expect(try !set.remove(["y": 2, "x": 1]))
    #expect(try !set.contains(["x": 1, "y": 2]))
    #expect(try set.values() == expected.dropLast())
    try store.database.close()
    #expect(try fixture.open().state.set(named: "favourites").values() == expected.dropLast())
    #expect(try fixture.open().state.set(named: "favourite").values() == [])
  }

  @Test("of several threads that add the same value, exactly one call returns that it is new")
  func oneIsFirst() throws {
    let store = try fixture.open(nil, StateFixture.quickly)
    let set = try store.state.set(named: "s")
    for round in 0..<20 {
      let firsts = try store.state.scores("firsts", bounds: 0...100)
      try stateThreads(4) { _ in
        if try set.add(.int(Int64(round))) { try firsts.add("\(round)", 1) }
      }
    }
    #expect(try set.values().count == 20)
    #expect(
      try store.state.scores("firsts", bounds: 0...100).all().map(\.value) == Array(repeating: 1, count: 20))
  }

  @Test("a score begins at 0, adds up, and stays within its bounds", arguments: [false, true])
  func scores(isSavedEachTime: Bool) throws {
    let store = try fixture.open()
    let scores = try store.state.scores("cuisine")
    func add(_ delta: Double) throws -> Double {
      let score = try scores.add("thai", delta)
      if isSavedEachTime { try store.state.flush() }
      #expect(try scores.value("thai") == score)
      return score
    }
    #expect(try scores.value("thai") == 0)
    #expect(try add(0.1) == 0.1)
    #expect(try add(0.2) == 0.1 + 0.2)
    #expect(try add(5) == 1)
    // An excess over a bound is discarded.
    #expect(try add(-0.5) == 0.5)
    #expect(try add(-.greatestFiniteMagnitude) == -1)
    #expect(try scores.add("greek", 0.25) == 0.25)
    #expect(try scores.all().map(\.key) == ["greek", "thai"])
    try store.state.flush()
    #expect(try scores.all().map(\.value) == [0.25, -1])
    try scores.remove("thai")
    #expect(try scores.all().map(\.key) == ["greek"])
    #expect(try scores.add("thai", 0.125) == 0.125)
    try store.database.close()
    #expect(try fixture.open().state.scores("cuisine").all().map(\.value) == [0.25, 0.125])
  }

  @Test("given bounds apply instead of the defaults")
  func bounds() throws {
    let state = try fixture.open().state
    let wide = try state.scores("s", bounds: 0...100)
    #expect(try wide.add("k", 1e300) == 100)
    #expect(try wide.add("k", -30) == 70)
    #expect(try state.scores("s").value("k") == 1)
    #expect(try state.scores("t", bounds: 2...3).value("k") == 2)
    #expect(try state.scores("s", bounds: 0...100).value("k") == 70)
  }

  @Test("a number that is not finite is rejected", arguments: [Double.nan, .infinity, -.infinity])
  func notFinite(number: Double) throws {
    let state = try fixture.open().state
    #expect(try stateCode { try state.scores("s").add("k", number) } == .invalid)
    #expect(try state.scores("s").all().isEmpty)
    guard !number.isNaN else { return }
    #expect(try stateCode { _ = try state.scores("s", bounds: min(0, number)...max(0, number)) } == .invalid)
  }

  @Test("deltas of two handles add up, while both read and save")
  func twoHandles() throws {
    let (first, second) = (
      try fixture.open(nil, StateFixture.quickly) { $0.busyTimeout = 5000 },
      try fixture.open(nil, StateFixture.quickly) { $0.busyTimeout = 5000 }
    )
    try stateThreads(4) { number in
      let scores = try (number % 2 == 0 ? first : second).state.scores("s", bounds: 0...1_000_000)
      var last = 0.0
      for _ in 0..<200 {
        let score = try scores.add("k", 1)
        // Never counted twice, and never less than this thread has seen.
        #expect(score > last && score <= 800)
        last = score
      }
    }
    try first.state.flush()
    try second.state.flush()
    for store in [first, second] { #expect(try store.state.scores("s", bounds: 0...1000).value("k") == 800) }
  }
}
