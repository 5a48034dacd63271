"""The numbers behind the charts of a page, and the bins that figures share with them."""
