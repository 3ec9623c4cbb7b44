import CRootOrder

/// The decoded table of the root order.
struct RootOrderEntries: Sendable {
  struct Range: Sendable {
    var first: Int32
    var last: Int32
    var lead: Int32
    var origin: Int32
  }

  /// The number of a page's values in `values`; page 0 has absent ones.
  fileprivate(set) var pages: [UInt16] = []
  fileprivate(set) var values: [UInt32] = []
  fileprivate(set) var lists: [UInt32] = []
  /// The characters of each contraction, 21 bits each, in ascending order, and their lists.
  fileprivate(set) var contractions: [UInt64] = []
  fileprivate(set) var contractionLists: [UInt32] = []
  /// Characters whose weights follow from their code points.
  fileprivate(set) var ranges: [Range] = []

  /// Returns the value of a scalar.
  @inline(__always)
  func value(of scalar: Int32) -> UInt32 {
    let page = Int(pages[Int(scalar / RootOrderTable.pageSize)])
    return values[page * Int(RootOrderTable.pageSize) + Int(scalar % RootOrderTable.pageSize)]
  }

  /// Appends the elements of a value that is not absent.
  func append(_ value: UInt32, to elements: inout [UInt32]) {
    let value = value & ~RootOrderTable.beginsContraction
    if value & RootOrderTable.isList != 0 {
      let offset = Int(value & ~RootOrderTable.isList)
      for index in 0..<Int(lists[offset]) { elements.append(lists[offset + 1 + index]) }
    } else if value != 0 {
      elements.append(value)
    }
  }

  /// Appends the elements of a character that follow from its code point.
  func appendImplicit(_ scalar: Int32, tertiary: UInt32 = 2, to elements: inout [UInt32]) {
    let range = ranges.last { $0.first <= scalar }.flatMap { scalar <= $0.last ? $0 : nil }
    let (lead, origin) = range.map { ($0.lead, $0.origin) } ?? (0xFBC0, 0)
    appendImplicit(scalar - origin, lead, tertiary: tertiary, to: &elements)
  }

  fileprivate func appendImplicit(
    _ offset: Int32, _ lead: Int32, tertiary: UInt32, to elements: inout [UInt32]
  ) {
    elements.append(UInt32(truncatingIfNeeded: lead + offset >> 15) << 14 | 0x20 << 5 | tertiary)
    elements.append(UInt32(truncatingIfNeeded: offset & 0x7FFF | 0x8000) << 14)
  }

  /// Returns the value of a contraction.
  func contraction(_ key: UInt64) -> UInt32? {
    var (low, high) = (0, contractions.count)
    while low < high {
      let middle = (low + high) / 2
      if contractions[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < contractions.count && contractions[low] == key ? contractionLists[low] : nil
  }

  fileprivate mutating func set(_ value: UInt32, of scalar: Int32) {
    let page = Int(scalar / RootOrderTable.pageSize)
    if pages[page] == 0 {
      pages[page] = UInt16(truncatingIfNeeded: values.count / Int(RootOrderTable.pageSize))
      addPage()
    }
    values[Int(pages[page]) * Int(RootOrderTable.pageSize) + Int(scalar % RootOrderTable.pageSize)] = value
  }

  fileprivate mutating func addPage() {
    values.append(contentsOf: repeatElement(RootOrderTable.absent, count: Int(RootOrderTable.pageSize)))
  }

  fileprivate mutating func addList(_ elements: [UInt32]) -> UInt32 {
    if elements.count == 1 { return elements[0] }
    let offset = UInt32(truncatingIfNeeded: lists.count)
    lists.append(UInt32(truncatingIfNeeded: elements.count))
    lists.append(contentsOf: elements)
    return RootOrderTable.isList | offset
  }
}

/// Decodes the table, which Scripts/root_order.py writes.
struct RootOrderReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  private var primary: Int32 = 0
  private var result = RootOrderEntries()

  init() {
    var count = 0
    let start = satchel_root_order(&count)
    bytes = UnsafeBufferPointer(start: start, count: count)
    result.pages = [UInt16](repeating: 0, count: 0x110000 / Int(RootOrderTable.pageSize))
    result.values.reserveCapacity(0x10000)
    result.addPage()
  }

  mutating func entries() -> RootOrderEntries {
    readCharacters()
    readContractions()
    for _ in 0..<number() {
      let (first, count) = (number(), number())
      result.ranges.append(
        RootOrderEntries.Range(first: first, last: first + count - 1, lead: number(), origin: number()))
    }
    return result
  }

  private mutating func byte() -> Int32 {
    position += 1
    return Int32(bytes[position - 1])
  }

  private mutating func number() -> Int32 {
    var (number, shift) = (0 as Int32, 0 as Int32)
    while true {
      let next = byte()
      number |= (next & 0x7F) << shift
      if next < 0x80 { return number }
      shift += 7
    }
  }

  private static func signed(_ number: Int32) -> Int32 { number & 1 == 0 ? number >> 1 : -(number + 1) >> 1 }

  private static func element(_ primary: Int32, _ secondary: Int32, _ tertiary: Int32) -> UInt32 {
    UInt32(truncatingIfNeeded: primary << 14 | secondary << 5 | tertiary)
  }

  /// Reads a list: secondary weights, changes of the primary weight, and ideographs.
  private mutating func list() -> [UInt32] {
    var elements: [UInt32] = []
    for _ in 0..<byte() {
      let (number, tertiary) = (number(), byte())
      switch number & 3 {
      case 1:
        primary += Self.signed(number >> 2)
        elements.append(Self.element(primary, 0x20, tertiary))
      case 3:
        let lead: Int32 = number >> 2 & 1 == 0 ? 0xFB40 : 0xFB80
        result.appendImplicit(number >> 3, lead, tertiary: UInt32(tertiary), to: &elements)
      default: elements.append(Self.element(0, number >> 1, tertiary))
      }
    }
    return elements
  }

  private mutating func readCharacters() {
    var (scalar, secondary) = (0 as Int32, 0 as Int32)
    while true {
      let code = byte()
      var count: Int32 = 0
      switch code {
      case 0x00...0x3F: count = code + 1
      case 0x40...0x5F: scalar += code - 0x3F
      case 0x60...0x7F:
        primary += Self.signed(number())
        result.set(Self.element(primary, 0x20, code - 0x60), of: scalar)
        scalar += 1
      case 0x80: scalar += number()
      case 0x81:
        for _ in 0..<number() {
          result.set(0, of: scalar)
          scalar += 1
        }
      case 0x82: primary += Self.signed(number())
      case 0x83: count = number()
      case 0x85:
        let elements = list()
        result.set(result.addList(elements), of: scalar)
        scalar += 1
      case 0x86:
        secondary += Self.signed(number())
        result.set(Self.element(0, secondary, 2), of: scalar)
        scalar += 1
      case 0xA0...0xBF: primary += code - 0xB0
      case 0xC0...0xFF:
        primary += code - 0xE0
        count = 1
      default: return
      }
      for _ in 0..<count {
        primary += 1
        result.set(Self.element(primary, 0x20, 2), of: scalar)
        scalar += 1
      }
    }
  }

  private mutating func readContractions() {
    for _ in 0..<number() {
      let first = number()
      result.set(result.value(of: first) | RootOrderTable.beginsContraction, of: first)
      for _ in 0..<number() {
        let length = number()
        if length == 0 {
          let second = number()
          for offset in 0..<number() { addSwapped(first, second + offset) }
          continue
        }
        var key = UInt64(first)
        for _ in 0..<length { key = key << 21 | UInt64(number()) }
        let elements = list()
        add(key, elements)
      }
    }
    // Shorter ones precede longer ones in the table, but not as numbers.
    let order = contractionOrder()
    result.contractionLists = order.map { result.contractionLists[$0] }
    result.contractions = order.map { result.contractions[$0] }
  }

  private func contractionOrder() -> [Int] {
    Array(result.contractions.indices).ordered { result.contractions[$0] < result.contractions[$1] }
  }

  /// Adds a vowel that is written before its consonant, and sorted after it.
  private mutating func addSwapped(_ first: Int32, _ second: Int32) {
    var elements: [UInt32] = []
    for scalar in [second, first] {
      let value = result.value(of: scalar)
      if value == RootOrderTable.absent {
        result.appendImplicit(scalar, to: &elements)
      } else {
        result.append(value, to: &elements)
      }
    }
    add(UInt64(first) << 21 | UInt64(second), elements)
  }

  private mutating func add(_ key: UInt64, _ elements: [UInt32]) {
    result.contractions.append(key)
    result.contractionLists.append(result.addList(elements))
  }
}
