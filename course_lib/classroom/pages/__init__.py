"""Pages of the site that need no notebook and no nbconvert: the frame around every page, and twelve bugs to find."""
