import Foundation
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Unusual and damaged images")
struct ScanPictureTests {
  @Test("Sizes of images", arguments: ["baseline.jpg", "progressive.jpg", "cmyk.jpg", "small.png"])
  func sizes(name: String) throws {
    let facts = ScanFixture.facts(try ScanFixture.picture(name), name: name)
    #expect(facts.width == 48 && facts.height == 32)
    #expect(facts.remark == nil)
  }

  @Test("The first bytes determine the format, not the name")
  func renamed() throws {
    let png = ScanFixture.facts(try ScanFixture.picture("small.png"), name: "a.jpg")
    #expect(png.width == 48 && png.remark == nil)
    let page = ScanFixture.facts(Array("<!DOCTYPE html><title>404</title>".utf8), name: "a.jpg")
    #expect(page.width == nil && page.remark == "its first bytes are not those of an image")
    let other = ScanFixture.facts(Array("a raw format that is not read".utf8), name: "a.x3f")
    #expect(other.width == nil && other.remark == nil)
  }

  @Test("A truncated image is reported, and the bytes before the truncation are used")
  func cut() throws {
    let whole = try ScanFixture.jpeg(ScanExif.usual().segment)
    for length in 1..<whole.count {
      let facts = ScanFixture.facts(Array(whole.prefix(length)))
      if facts.width == nil { #expect(facts.remark != nil, "\(length)") } else { #expect(facts.width == 48) }
    }
    let png = try ScanFixture.picture("small.png")
    for length in 8..<33 {
      let facts = ScanFixture.facts(Array(png.prefix(length)), name: "a.png")
      #expect(facts.width == nil && facts.remark != nil, "\(length)")
    }
  }

  @Test("EXIF after other segments is found, XMP among them")
  func laterSegments() throws {
    let xmp = ScanExif.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>".utf8))
    let filled = ScanExif.segment(0xE2, [UInt8](repeating: 0xFF, count: 65_000))
    let segments = xmp + filled + filled + [0xFF, 0xFF] + ScanExif.usual().segment
    let facts = ScanFixture.facts(try ScanFixture.jpeg(segments))
    #expect(facts.cameraMake == "Zenit" && facts.width == 48 && facts.remark == nil)
  }

  @Test("EXIF of a TIFF is read, in both byte orders, and damage is reported", arguments: [false, true])
  func tiff(isBigEndian: Bool) {
    var exif = ScanExif.usual()
    exif.isBigEndian = isBigEndian
    let facts = ScanFixture.facts(exif.tiff + [UInt8](repeating: 1, count: 200_000), name: "a.dng")
    #expect(facts.cameraMake == "Zenit" && facts.date == 1_626_287_405 && facts.latitude != nil)
    #expect(facts.width == nil && facts.remark == nil)
    exif.main[0].claimedOffset = 0xFFFF_FFF0
    let damaged = ScanFixture.facts(exif.tiff, name: "a.dng")
    #expect(damaged.remark == "its EXIF is damaged" && damaged.date == 1_626_287_405)
  }

  @Test("Damaged EXIF is reported; the size is read all the same")
  func damaged() throws {
    var huge = ScanExif.usual()
    huge.main[0].claimedCount = .max
    var far = ScanExif.usual()
    far.main[0].claimedOffset = 0xFFFF_FFF0
    var cut = ScanExif.usual().segment
    cut = Array(cut.prefix(80))
    cut[3] = UInt8(cut.count - 2)
    cut[2] = 0
    let wrongOrder = Array("Exif\0\0XX".utf8) + ScanExif.usual().tiff.dropFirst(2)
    let empty = Array("Exif\0\0".utf8)
    let segments = [
      huge.segment, far.segment, cut, ScanExif.segment(0xE1, wrongOrder), ScanExif.segment(0xE1, empty),
    ]
    for (number, segment) in segments.enumerated() {
      let facts = ScanFixture.facts(try ScanFixture.jpeg(segment))
      #expect(facts.width == 48, "\(number)")
      #expect(facts.remark == "its EXIF is damaged", "\(number)")
    }
  }

  @Test("Loops of EXIF directories end", .timeLimit(.minutes(20)))
  func loops() throws {
    var exif = ScanExif.usual()
    exif.next = 8
    #expect(try ScanFixture.facts(exif).width == 48)
    exif = .usual()
    // The directory of the photo is the main one: a loop.
    exif.main += (0..<500).map { _ in ScanExif.Tag(number: 0x8769, value: .long([8])) }
    #expect(try ScanFixture.facts(exif).width == 48)
  }

  @Test("Mutated images do not trap, and every value stays in its range", .timeLimit(.minutes(20)))
  func mutations() throws {
    var random = SeededRandom(seed: 20_210_714)
    var big = ScanExif.usual()
    big.isBigEndian = true
    let sources = [
      try ScanFixture.jpeg(ScanExif.usual().segment), try ScanFixture.jpeg(big.segment), big.tiff,
      try ScanFixture.picture("small.png"), try ScanFixture.picture("progressive.jpg"),
      try ScanFixture.picture("small.heic"), try ScanFixture.picture("small.avif"),
      try ScanFixture.picture("small.webp"),
    ]
    for round in 0..<10_000 {
      var bytes = sources[round % 10 < 5 ? round % 2 : 2 + round % 6]
      for _ in 0...random.below(4) {
        let offset = random.below(min(bytes.count, 500))
        switch random.below(4) {
        case 0: bytes[offset] = UInt8(random.below(256))
        case 1: bytes[offset] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
        case 2: bytes[offset] ^= 1 << UInt8(random.below(8))
        default: bytes.removeSubrange(offset..<min(bytes.count, offset + random.below(9)))
        }
        if bytes.isEmpty { bytes = [0xFF] }
      }
      let facts = ScanFixture.facts(bytes)
      #expect((facts.latitude == nil) == (facts.longitude == nil))
      #expect((-90...90).contains(facts.latitude ?? 0) && (-180...180).contains(facts.longitude ?? 0))
      #expect((1...8).contains(facts.orientation ?? 1) && (facts.iso ?? 1) > 0)
      #expect(facts.shutterSpeed.map { ShutterSpeed.isValid($0) } != false)
      #expect((facts.date == nil) == (facts.dateSource == nil))
      for number in [facts.aperture, facts.focalLength] {
        #expect(number ?? 1 > 0 && (number ?? 1).isFinite)
      }
      #expect((facts.width ?? 1) > 0 && (facts.height ?? 1) > 0)
      #expect((facts.cameraMake ?? "").utf8.count <= 3 * 255)
    }
  }

  @Test("HEIC, AVIF and WebP: size and EXIF", arguments: ["small.heic", "small.avif", "small.webp"])
  func containers(name: String) throws {
    let bytes = try ScanFixture.picture(name)
    let facts = ScanFixture.facts(bytes, name: name)
    #expect(facts.width == 48 && facts.height == 32 && facts.remark == nil)
    #expect(facts.date == 1_626_287_405 && facts.dateSource == .original && facts.shutterSpeed == "1/250")
    #expect(facts.cameraMake == "Zenit" && facts.cameraModel == "Horizon 202" && facts.orientation == 6)
    #expect(abs((facts.latitude ?? 0) + 33.85) < 1e-9 && abs((facts.longitude ?? 0) - 151.2) < 1e-9)
    // Of a file that ends early what is left is used, or it is reported.
    for length in 12..<bytes.count {
      let cut = ScanFixture.facts(Array(bytes.prefix(length)), name: name)
      if cut.width == nil { #expect(cut.remark != nil, "\(length)") } else { #expect(cut.width == 48) }
    }
  }

  @Test("A HEIC, AVIF or WebP of any size is read", arguments: ["small.heic", "small.avif", "small.webp"])
  func large(name: String) throws {
    let fixture = try ScanFixture()
    try fixture.put(name, try ScanFixture.picture(name), modified: 5)
    let size = 200 << 20
    // Zeros after its end, which the file system need not store.
    #expect(truncate(fixture.path + "/" + name, off_t(size)) == 0)
    fixture.touch(name, 5)
    let photo = try fixture.read()
    #expect(try photo.size == Int64(size) && photo.md5 == fixture.md5(name))
    #expect(photo.facts.width == 48 && photo.facts.date == 1_626_287_405)
  }

  @Test(
    "A file that promises more bytes than can be read is reported",
    arguments: ["small.heic", "small.avif", "small.webp", "baseline.jpg", "small.png"])
  func failing(name: String) throws {
    let bytes = try ScanFixture.picture(name)
    let null = open("/dev/null", O_RDONLY)
    defer { close(null) }
    for length in 12..<bytes.count {
      let facts = bytes.prefix(length).withUnsafeBytes {
        ImageFacts(head: $0, file: (null, Int64(bytes.count)), name: name, zone: .utc)
      }
      if facts.width == nil { #expect(facts.remark != nil, "\(length)") } else { #expect(facts.width == 48) }
    }
  }

  @Test("EXIF and sizes after the first bytes of a file are read at their offsets")
  func far() throws {
    let fixture = try ScanFixture()
    // A main directory at the end of 3 MB, as programs write it that write the pixels first.
    var exif = ScanExif.usual()
    exif.add(0x0100, .long([6000]))
    exif.add(0x0101, .short([4000]))
    var tiff = exif.tiff
    let distance = 3 * PhotoFileReader.headSize
    // All offsets of the directories move by the distance; the header stays.
    tiff = ScanExif.moved(tiff, by: distance)
    try fixture.put("a.nef", tiff, modified: 5)
    let photo = try fixture.read()
    #expect(photo.photodate == 1_626_287_405 && photo.facts.dateSource == .original)
    #expect(photo.facts.cameraModel == "Horizon 202" && photo.facts.latitude != nil)
    #expect(photo.facts.width == 6000 && photo.facts.height == 4000 && photo.facts.remark == nil)
    // The same, cut inside of the directories: reported, and what precedes the cut is used.
    let cut = try ScanFixture()
    try cut.put("a.nef", Array(tiff.dropLast(tiff.count - distance - 60)), modified: 5)
    let damaged = try cut.read()
    #expect(damaged.facts.remark == "its EXIF is damaged" && damaged.size == Int64(distance + 60))
  }

  @Test("Of a raw file the photo's size is read, not that of its preview")
  func preview() throws {
    var exif = ScanExif.usual()
    exif.add(0x00FE, .long([1]))
    exif.add(0x0100, .short([160]))
    exif.add(0x0101, .short([120]))
    // The photo's directory: appended, with an offset that the main one has.
    var photo = ScanExif()
    photo.add(0x0100, .short([6016]))
    photo.add(0x0101, .short([4016]))
    var probe = exif
    probe.add(0x014A, .long([0]))
    let start = probe.tiff.count
    exif.add(0x014A, .long([UInt32(start)]))
    let directory = ScanExif.moved(photo.tiff, by: start - 8).dropFirst(start)
    let facts = ScanFixture.facts(exif.tiff + directory, name: "a.nef")
    #expect(facts.width == 6016 && facts.height == 4016 && facts.remark == nil)
    #expect(facts.date == 1_626_287_405)
  }
}
