import CCurl

/// The properties of a packet of XMP that are read, by their names with the usual prefixes.
struct XMPPacket {
  /// Packets of more than this are not read.
  static let maxSize = 4 << 20

  private static let namespaces = [
    "http://ns.adobe.com/exif/1.0/": "exif", "http://ns.adobe.com/photoshop/1.0/": "photoshop",
    "http://ns.adobe.com/xap/1.0/": "xmp", "http://ns.adobe.com/tiff/1.0/": "tiff",
  ]
  private static let names: Set<String> = [
    "exif:DateTimeOriginal", "photoshop:DateCreated", "exif:DateTimeDigitized", "xmp:CreateDate",
    "exif:GPSLatitude", "exif:GPSLongitude", "tiff:Make", "tiff:Model", "tiff:Orientation",
  ]

  private(set) var properties: [String: String] = [:]
  /// By the prefixes of the packet.
  private var prefixes = ["xap": "xmp"]
  private var path: [String] = []
  private var text: [UInt8] = []

  /// Whether expat is installed, which parses the packets.
  static var isReadable: Bool { ccurl_xml_load(nil, 0) }

  /// Parses a packet as far as it is XML. Of a property that is there several times the first counts.
  init(_ bytes: [UInt8]) {
    // The padding of a packet in a field of a fixed length.
    let end = bytes.lastIndex { $0 != 0 } ?? -1
    withUnsafeMutablePointer(to: &self) { packet in
      var events = ccurl_xml_events()
      events.context = UnsafeMutableRawPointer(packet)
      events.on_start = { context, name, attributes in
        guard let packet = XMPPacket.at(context), let name, let attributes else { return false }
        packet.pointee.start(String(cString: name), XMPPacket.pairs(attributes))
        return true
      }
      events.on_text = { context, bytes, length in
        XMPPacket.at(context)?.pointee.add(UnsafeRawBufferPointer(start: bytes, count: length))
        return true
      }
      events.on_end = { context, _ in
        XMPPacket.at(context)?.pointee.end()
        return true
      }
      bytes[...end].withUnsafeBufferPointer { _ = ccurl_xml_read($0.baseAddress, $0.count, &events) }
    }
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMPPacket>? {
    context?.assumingMemoryBound(to: XMPPacket.self)
  }

  private static func pairs(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>) -> [(String, String)] {
    var pairs: [(String, String)] = []
    var index = 0
    while let name = list[index], let value = list[index + 1] {
      pairs.append((String(cString: name), String(cString: value)))
      index += 2
    }
    return pairs
  }

  private mutating func start(_ name: String, _ attributes: [(String, String)]) {
    for (name, value) in attributes where name.hasPrefix("xmlns:") {
      if let usual = Self.namespaces[value] { prefixes[String(name.dropFirst(6))] = usual }
    }
    for (name, value) in attributes { put(name, value) }
    path.append(name)
    text.removeAll(keepingCapacity: true)
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    if text.count <= 256 { text.append(contentsOf: bytes.prefix(256)) }
  }

  private mutating func end() {
    guard let name = path.popLast() else { return }
    put(name, String(decoding: text, as: UTF8.self))
    text.removeAll(keepingCapacity: true)
  }

  private mutating func put(_ name: String, _ value: String) {
    guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
    let prefix = String(name[..<colon])
    let usual = (prefixes[prefix] ?? prefix) + name[colon...]
    guard Self.names.contains(usual), properties[usual] == nil,
      let value = ImageFacts.trimmed(Array(value.utf8))
    else { return }
    properties[usual] = value
  }
}

extension ImageFacts {
  /// Reads what is unknown from XMP, which editors write.
  ///
  /// - Parameter source: `.sidecar` for a packet in a file of its own
  mutating func readXMP(_ bytes: [UInt8], _ source: PhotoDateSource = .xmp) {
    guard XMPPacket.isReadable else {
      missingLibrary = "libexpat: dates in XMP are not read"
      return
    }
    let properties = XMPPacket(bytes).properties
    for name in [
      "exif:DateTimeOriginal", "photoshop:DateCreated", "exif:DateTimeDigitized", "xmp:CreateDate",
    ] {
      if let text = properties[name] { found(source, ImageDate(text)) }
    }
    cameraMake = cameraMake ?? properties["tiff:Make"]
    cameraModel = cameraModel ?? properties["tiff:Model"]
    if orientation == nil, let turn = properties["tiff:Orientation"].flatMap({ Int64($0) }) {
      orientation = (1...8).contains(turn) ? turn : nil
    }
    if latitude == nil,
      let north = Self.degrees(properties["exif:GPSLatitude"], positive: "N", negative: "S", limit: 90),
      let east = Self.degrees(properties["exif:GPSLongitude"], positive: "E", negative: "W", limit: 180)
    {
      setPosition(north, east)
    }
  }

  /// Parses "48,8.5N" and "48,8,30N": degrees, minutes and seconds.
  private static func degrees(
    _ text: String?, positive: Character, negative: Character, limit: Double
  ) -> Double? {
    guard let text, text.utf8.count <= 64, let half = text.last, half == positive || half == negative else {
      return nil
    }
    let parts = text.dropLast().split(separator: ",").map { Double($0) ?? .nan }
    guard (2...3).contains(parts.count), parts.allSatisfy({ $0 >= 0 }),
      parts.dropFirst().allSatisfy({ $0 <= 60 })
    else { return nil }
    let value = parts[0] + parts[1] / 60 + (parts.count > 2 ? parts[2] / 3600 : 0)
    guard value <= limit else { return nil }
    return half == negative && value > 0 ? -value : value
  }
}
